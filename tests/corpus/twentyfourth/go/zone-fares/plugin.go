package main

import (
	"log/slog"
	"time"

	"latchwork"
)

type Trip struct {
	Zones      []int `json:"zones"`
	Passengers int   `json:"passengers"`
	Return     bool  `json:"return"`
}

type Fare struct {
	Cents   int `json:"cents"`
	Crossed int `json:"zones_crossed"`
}

const (
	baseCents  = 180
	zoneCents  = 65
	groupFrom  = 10
	groupShare = 80
)

func init() {
	latchwork.Step("Fare.Price", latchwork.Spec{
		Description: "Prices a bus trip through the zones of a region.",
		Input: latchwork.Schema(`{"type":"object","required":["zones","passengers","return"],"additionalProperties":false,"properties":{
			"zones":{"type":"array","minItems":1,"maxItems":500,"items":{"type":"integer","minimum":1,"maximum":99}},
			"passengers":{"type":"integer","minimum":1,"maximum":500},"return":{"type":"boolean"}}}`),
		Output: latchwork.Schema(`{"type":"object","required":["cents","zones_crossed"],"additionalProperties":false,"properties":{
			"cents":{"type":"integer"},"zones_crossed":{"type":"integer"}}}`),
	}, price)
}

func price(_ latchwork.Context, trip Trip) (Fare, error) {
	crossed := 0
	for i := 1; i < len(trip.Zones); i++ {
		if trip.Zones[i] == trip.Zones[i-1] {
			return Fare{}, latchwork.Fail(latchwork.InvalidInput, "zone %d is listed twice in a row", trip.Zones[i])
		}
		crossed++
	}
	cents := (baseCents + crossed*zoneCents) * trip.Passengers
	if trip.Return {
		cents *= 2
	}
	if trip.Passengers >= groupFrom {
		cents = cents * groupShare / 100
	}
	// The revenue office compares the fares with the price list of the day.
	slog.Info("fare", "cents", cents, "priced", time.Now().Format(time.DateTime))
	return Fare{cents, crossed}, nil
}

func main() {}
