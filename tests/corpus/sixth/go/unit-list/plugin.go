// Lists the units into which a quantity can be converted, with the converted quantity. The preferred unit comes first.
package main

import (
	"math"
	"sort"

	"latchwork"
)

type Quantity struct {
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

type Converted struct {
	Base  string     `json:"base"`
	Other []Quantity `json:"other"`
}

// factors has the size of each unit in the base unit of its family.
var factors = map[string]map[string]float64{
	"metre": {"metre": 1, "inch": 0.0254, "foot": 0.3048, "yard": 0.9144, "mile": 1609.344},
	"gram":  {"gram": 1, "ounce": 28.349523125, "pound": 453.59237},
}

func init() {
	latchwork.Tool("Unit.List", latchwork.Spec{
		Description: "Converts a quantity into the other units of its family.",
		Determinism: latchwork.Pure,
	}, list)
}

func list(_ *latchwork.Invocation, quantity Quantity) (Converted, error) {
	if math.Abs(quantity.Value) > 1e9 {
		return Converted{}, latchwork.Fail(latchwork.InvalidInput, "the quantity is too large")
	}
	for base, family := range factors {
		size, found := family[quantity.Unit]
		if !found {
			continue
		}
		made := Converted{Base: base}
		preferred, _, err := latchwork.KVGet("preferred")
		if err != nil {
			return Converted{}, err
		}
		for unit, factor := range family {
			if unit != quantity.Unit {
				made.Other = append(made.Other, Quantity{math.Round(quantity.Value*size/factor*1e6) / 1e6, unit})
			}
		}
		sort.Slice(made.Other, func(a, b int) bool {
			one, two := made.Other[a].Unit, made.Other[b].Unit
			if (one == string(preferred)) != (two == string(preferred)) {
				return one == string(preferred)
			}
			return one < two
		})
		return made, nil
	}
	return Converted{}, latchwork.Fail(latchwork.InvalidInput, "%q is no known unit", quantity.Unit)
}

// main is empty: the host calls the operators.
func main() {}
