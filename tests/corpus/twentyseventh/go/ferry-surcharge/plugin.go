// Package main computes the surcharges of a ferry line from the tariff in latch.toml. It has neither a map nor a clock: the
// day of the crossing is in the request.
package main

import (
	"sort"
	"time"

	"latchwork"
)

type Crossing struct {
	Day     string             `json:"day"`
	Metres  float64            `json:"metres"`
	Extras  []string           `json:"extras,omitempty"`
	Weights map[string]float64 `json:"weights,omitempty"`
}

type Item struct {
	Name  string `json:"name"`
	Cents int64  `json:"cents"`
}

type Surcharge struct {
	Items []Item `json:"items"`
	Cents int64  `json:"cents"`
}

// tariff is the key `tariff` of the config. Prices are in cents.
type tariff struct {
	Metre   int64            `json:"metre"`
	Weekend int64            `json:"weekend"`
	Tonne   int64            `json:"tonne"`
	Extras  map[string]int64 `json:"extras"`
}

// usual is the tariff of a host that configures none. A configured tariff replaces single prices and adds extras.
func usual() tariff {
	return tariff{Metre: 450, Weekend: 1200, Tonne: 300, Extras: map[string]int64{"bicycle": 500, "kayak": 900}}
}

func init() {
	latchwork.Tool("Ferry.Surcharge", latchwork.Spec{
		Description: "Computes the surcharges of a crossing.",
		Effects:     []latchwork.Effect{latchwork.ReadOnly},
		Determinism: latchwork.Pure,
	}, surcharge)
}

func surcharge(_ *latchwork.Invocation, crossing Crossing) (Surcharge, error) {
	prices := usual()
	if _, err := latchwork.Config("tariff", &prices); err != nil {
		return Surcharge{}, err
	}
	day, err := time.Parse(time.DateOnly, crossing.Day)
	if err != nil {
		return Surcharge{}, latchwork.Fail(latchwork.InvalidInput, "%q is no day", crossing.Day)
	}
	if crossing.Metres < 0 || crossing.Metres > 30 {
		return Surcharge{}, latchwork.Fail(latchwork.InvalidInput, "a vehicle has up to 30 metres, not %g", crossing.Metres)
	}

	made := Surcharge{Items: []Item{}}
	add := func(name string, cents int64) {
		made.Items = append(made.Items, Item{name, cents})
		made.Cents += cents
	}
	if over := crossing.Metres - 5; over > 0 {
		add("length", int64(over+0.999)*prices.Metre)
	}
	if weekday := day.Weekday(); weekday == time.Saturday || weekday == time.Sunday {
		add("weekend", prices.Weekend)
	}
	// The load of the axles is summed in kilograms, whose order makes no difference.
	kilograms := int64(0)
	for _, tonnes := range crossing.Weights {
		if tonnes < 0 || tonnes > 40 {
			return Surcharge{}, latchwork.Fail(latchwork.InvalidInput, "an axle of this vehicle has an impossible load")
		}
		kilograms += int64(tonnes*1000 + 0.5)
	}
	if kilograms > 3500 {
		add("weight", (kilograms-3500+999)/1000*prices.Tonne)
	}
	counts := map[string]int64{}
	for _, extra := range crossing.Extras {
		if _, known := prices.Extras[extra]; !known {
			return Surcharge{}, latchwork.Fail(latchwork.InvalidInput, "the line takes no %s", extra)
		}
		counts[extra]++
	}
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		add(name, counts[name]*prices.Extras[name])
	}
	return made, nil
}

// main is empty: the host calls the operators.
func main() {}
