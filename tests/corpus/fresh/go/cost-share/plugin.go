package main

import (
	"maps"
	"slices"

	"latchwork"
)

type Meter struct {
	Flat  string  `json:"flat"`
	Units float64 `json:"units"`
}

type House struct {
	Meters []Meter `json:"meters"`
	Cents  int64   `json:"cents"`
}

type Share struct {
	Flat  string `json:"flat"`
	Cents int64  `json:"cents"`
}

type Shares struct {
	Shares []Share          `json:"shares"`
	ByFlat map[string]int64 `json:"by_flat"`
}

func init() {
	latchwork.Step("House.Share", latchwork.Spec{
		Description: "Divides the costs of a house by the meters of its flats.",
		Determinism: latchwork.Pure,
	}, share)
}

func share(_ latchwork.Context, house House) (Shares, error) {
	units := map[string]float64{}
	for _, meter := range house.Meters {
		if meter.Units < 0 || meter.Units > 1e9 {
			return Shares{}, latchwork.Fail(latchwork.InvalidInput, "%s has %g units", meter.Flat, meter.Units)
		}
		units[meter.Flat] += meter.Units
	}
	// The order of a map is random, so the flats are added by name.
	flats := slices.Sorted(maps.Keys(units))
	total := 0.0
	for _, flat := range flats {
		total += units[flat]
	}
	if total == 0 || house.Cents < 0 || house.Cents > 1e12 {
		return Shares{}, latchwork.Fail(latchwork.InvalidInput, "%g units for %d cents", total, house.Cents)
	}
	made := Shares{[]Share{}, map[string]int64{}}
	left := house.Cents
	for i, flat := range flats {
		cents := int64(float64(house.Cents) * units[flat] / total)
		if i == len(flats)-1 {
			cents = left
		}
		left -= cents
		made.Shares = append(made.Shares, Share{flat, cents})
		// encoding/json writes the keys of a map in order.
		made.ByFlat[flat] = cents
	}
	return made, nil
}

// main is empty: the host calls the operators.
func main() {}
