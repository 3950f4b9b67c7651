package main

import (
	"errors"
	"fmt"

	"latchwork"
)

type Trip struct {
	Truck      string   `json:"truck"`
	Litres     int      `json:"litres"`
	Stations   []string `json:"stations"`
	MaxPerStop int      `json:"max_per_stop"`
}

type station struct {
	Station string `json:"station"`
}

type price struct {
	MilliEuro int `json:"milli_euro"`
}

type Advice struct {
	ID       string `json:"id"`
	Station  string `json:"station"`
	Stops    int    `json:"stops"`
	CostCent int    `json:"cost_cent"`
}

func init() {
	latchwork.Step("Fuel.Advise", latchwork.Spec{
		Description: "Advises where to refuel, by the present prices of the stations.",
		Determinism: latchwork.Stable, // The advice has a random id.
	}, advise)
}

func advise(_ latchwork.Context, trip Trip) (Advice, error) {
	if trip.Litres <= 0 || trip.Litres > 5000 || trip.MaxPerStop <= 0 {
		return Advice{}, latchwork.Fail(latchwork.InvalidInput, "litres or stops of %s are out of range", trip.Truck)
	}
	if len(trip.Stations) > 50 {
		return Advice{}, latchwork.Fail(latchwork.InvalidInput, "at most 50 stations can be compared")
	}
	best, station := 0, ""
	for _, name := range trip.Stations {
		asked, err := ask(name)
		var failure *latchwork.Failure
		if errors.As(err, &failure) {
			fmt.Println("no price of", name, failure.Code)
			continue
		}
		if asked.MilliEuro > 0 && asked.MilliEuro < 100_000 && (station == "" || asked.MilliEuro < best) {
			best, station = asked.MilliEuro, name
		}
	}
	if station == "" {
		return Advice{}, latchwork.Fail(latchwork.DependencyUnavailable, "no station has a price")
	}
	stops := (trip.Litres + trip.MaxPerStop - 1) / trip.MaxPerStop
	return Advice{latchwork.UUID(), station, stops, trip.Litres * best / 10}, nil
}

func ask(name string) (price, error) {
	return latchwork.Call[price]("Pump.Price", station{name})
}

func main() {}
