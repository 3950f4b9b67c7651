// Gear-ratios computes how far a bicycle rolls with one turn of the cranks. The sprockets of the workshop's bicycles are in
// the configuration of the plugin.
package main

import (
	"maps"
	"math"
	"slices"
	"strings"

	"latchwork"
)

type Gear struct {
	Front string `json:"front"`
	Rear  string `json:"rear"`
	// Rim is the circumference of the wheel in millimetres.
	Rim int `json:"rim_mm"`
}

type Rolled struct {
	Teeth  [2]int   `json:"teeth"`
	Ratio  float64  `json:"ratio"`
	Metres float64  `json:"metres"`
	Near   []string `json:"near"`
}

func init() {
	latchwork.Tool("Gear.Roll", latchwork.Spec{
		Description: "Computes how far a bicycle rolls with one turn of the cranks.",
		// The configuration belongs to the plugin: no map, no clock, no server.
		Determinism: latchwork.Pure,
		Effects:     []latchwork.Effect{latchwork.ReadOnly},
		Input: latchwork.Schema(`{"type":"object","properties":{
			"front":{"type":"string","minLength":1,"maxLength":30},"rear":{"type":"string","minLength":1,"maxLength":30},
			"rim_mm":{"type":"integer","minimum":500,"maximum":3000}},
			"required":["front","rear","rim_mm"],"additionalProperties":false}`),
	}, roll)
}

// sprockets reads a table of names and teeth.
func sprockets(key string) (map[string]int, error) {
	table := make(map[string]int)
	found, err := latchwork.Config(key, &table)
	if err != nil {
		return nil, err
	}
	if !found || len(table) == 0 {
		return nil, latchwork.Fail(latchwork.MissingRequiredContext, "config of the plugin has no table %q", key)
	}
	if len(table) > 100 {
		return nil, latchwork.Fail(latchwork.MissingRequiredContext, "the table %q has more than 100 sprockets", key)
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if table[name] < 5 || table[name] > 200 {
			return nil, latchwork.Fail(latchwork.MissingRequiredContext, "sprocket %q of the table %q has %d teeth", name, key, table[name])
		}
	}
	return table, nil
}

func pick(table map[string]int, name string) (int, error) {
	teeth, known := table[name]
	if !known {
		names := slices.Sorted(maps.Keys(table))
		return 0, latchwork.Fail(latchwork.InvalidInput, "there is no sprocket %q; there are %s", name, strings.Join(names[:min(20, len(names))], ", "))
	}
	return teeth, nil
}

func roll(_ *latchwork.Invocation, gear Gear) (Rolled, error) {
	front, err := sprockets("front")
	if err != nil {
		return Rolled{}, err
	}
	rear, err := sprockets("rear")
	if err != nil {
		return Rolled{}, err
	}
	big, err := pick(front, gear.Front)
	if err != nil {
		return Rolled{}, err
	}
	small, err := pick(rear, gear.Rear)
	if err != nil {
		return Rolled{}, err
	}
	ratio := float64(big) / float64(small)

	// Other pairs that roll nearly as far. The maps have no order, so the list is sorted.
	near := []string{}
	for f, teeth := range front {
		for r, others := range rear {
			other := float64(teeth) / float64(others)
			if (f != gear.Front || r != gear.Rear) && math.Abs(other-ratio) < ratio/50 {
				near = append(near, f+" with "+r)
			}
		}
	}
	slices.Sort(near)
	return Rolled{
		Teeth:  [2]int{big, small},
		Ratio:  math.Round(ratio*1000) / 1000,
		Metres: math.Round(ratio*float64(gear.Rim)) / 1000,
		Near:   near[:min(8, len(near))],
	}, nil
}

func main() {}
