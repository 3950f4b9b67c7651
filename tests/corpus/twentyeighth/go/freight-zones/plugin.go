// Freight prices for a shipment: each lane has a rate, and each parcel the lane that it takes.
package main

import (
	"math"
	"slices"

	"latchwork"
)

type Rate struct {
	BaseCents  int64   `json:"base_cents"`
	PerKgCents float64 `json:"per_kg_cents"`
	MaxKg      float64 `json:"max_kg"`
}

type Parcel struct {
	ID   string  `json:"id"`
	Lane string  `json:"lane"`
	Kg   float64 `json:"kg"`
}

type Shipment struct {
	Rates   map[string]Rate `json:"rates"`
	Parcels []Parcel        `json:"parcels"`
}

type LanePrice struct {
	Lane    string `json:"lane"`
	Parcels int    `json:"parcels"`
	Cents   int64  `json:"cents"`
}

type Quote struct {
	Lanes []LanePrice `json:"lanes"`
	Cents int64       `json:"cents"`
}

func init() {
	latchwork.Step("Freight.Quote", latchwork.Spec{
		Description: "Prices the parcels of a shipment by lane.",
		Determinism: latchwork.Pure,
	}, quote)
}

// checked refuses a table of rates that the tariff department has not finished.
func checked(rates map[string]Rate) error {
	for lane, rate := range rates {
		switch {
		case lane == "":
			return latchwork.Fail(latchwork.InvalidInput, "a lane has no name")
		case rate.BaseCents < 0 || rate.PerKgCents < 0:
			return latchwork.Fail(latchwork.InvalidInput, "lane %s: the rate is negative", lane)
		case rate.MaxKg <= 0:
			return latchwork.Fail(latchwork.InvalidInput, "lane %s: no weight is allowed", lane)
		}
	}
	return nil
}

func quote(_ latchwork.Context, shipment Shipment) (Quote, error) {
	if err := checked(shipment.Rates); err != nil {
		return Quote{}, err
	}
	lanes := map[string]*LanePrice{}
	made := Quote{Lanes: []LanePrice{}}
	for _, parcel := range shipment.Parcels {
		rate, known := shipment.Rates[parcel.Lane]
		if !known {
			return Quote{}, latchwork.Fail(latchwork.InvalidInput, "parcel %s: there is no lane %s", parcel.ID, parcel.Lane)
		}
		if parcel.Kg <= 0 || parcel.Kg > rate.MaxKg {
			return Quote{}, latchwork.Fail(latchwork.InvalidInput, "parcel %s: %.1f kg on lane %s", parcel.ID, parcel.Kg, parcel.Lane)
		}
		cents := rate.BaseCents + int64(math.Round(rate.PerKgCents*parcel.Kg))
		price := lanes[parcel.Lane]
		if price == nil {
			price = &LanePrice{Lane: parcel.Lane}
			lanes[parcel.Lane] = price
		}
		price.Parcels++
		price.Cents += cents
		made.Cents += cents
	}
	for _, price := range lanes {
		made.Lanes = append(made.Lanes, *price)
	}
	// The order of a map is random: sort before the answer.
	slices.SortFunc(made.Lanes, func(a, b LanePrice) int {
		if a.Lane < b.Lane {
			return -1
		}
		return 1
	})
	return made, nil
}

func main() {}
