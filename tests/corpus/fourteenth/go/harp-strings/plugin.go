// Command harp-strings finds the strings of a harp that have to be replaced.
package main

import (
	"cmp"
	"slices"
	"strings"

	"latchwork"
)

// String is one string: its note, its age in months, and how many cents its pitch falls in a day.
type String struct {
	Note     string `json:"note"`
	Material string `json:"material"`
	Months   int    `json:"months"`
	Drift    int    `json:"drift_cents"`
}

type Harp struct {
	Maker   string   `json:"maker"`
	Strings []String `json:"strings"`
}

type Worn struct {
	Note   string `json:"note"`
	Reason string `json:"reason"`
	Months int    `json:"months"`
}

type Order struct {
	Maker   string `json:"maker"`
	Replace []Worn `json:"replace"`
	Checked int    `json:"checked"`
}

// The life of a string in months, by its material.
var life = map[string]int{"gut": 24, "nylon": 60, "wire": 96}

// The workshop program reads the list of strings without a check, so the schema states its form.
const order = `{"type": "object", "required": ["maker", "replace", "checked"], "properties": {
	"maker": {"type": "string"},
	"replace": {"type": "array", "items": {"type": "object", "required": ["note", "reason", "months"]}},
	"checked": {"type": "integer", "minimum": 1}}}`

func init() {
	latchwork.Step("Harp.Inspect", latchwork.Spec{
		Description: "Finds the strings of a harp that have to be replaced.",
		Output:      latchwork.Schema(order),
	}, inspect)
}

func inspect(_ latchwork.Context, harp Harp) (Order, error) {
	if len(harp.Strings) == 0 {
		return Order{}, latchwork.Fail(latchwork.InvalidInput, "the harp has no strings")
	}
	var worn []Worn
	for i, one := range harp.Strings {
		months, known := life[strings.ToLower(one.Material)]
		if !known {
			return Order{}, latchwork.Fail(latchwork.InvalidInput, "string %d: unknown material %q", i+1, one.Material)
		}
		if one.Months < 0 || one.Drift < 0 {
			return Order{}, latchwork.Fail(latchwork.InvalidInput, "string %d: age and drift are not negative", i+1)
		}
		switch {
		case one.Drift > 20:
			worn = append(worn, Worn{one.Note, "slips", one.Months})
		case one.Months > months:
			worn = append(worn, Worn{one.Note, "old", one.Months})
		}
	}
	slices.SortStableFunc(worn, func(a, b Worn) int { return cmp.Compare(b.Months, a.Months) })
	return Order{Maker: harp.Maker, Replace: worn, Checked: len(harp.Strings)}, nil
}

// main is empty: the host calls the operators.
func main() {}
