// Command fodder-blend computes the nutrients of a blend of fodders for cattle.
package main

import (
	"slices"
	"strings"

	"latchwork"
)

// Fodder is one part of a blend: its weight, and the share of each nutrient in it.
type Fodder struct {
	Name      string             `json:"name"`
	Kilograms float64            `json:"kilograms"`
	Shares    map[string]float64 `json:"shares"`
}

type Blend struct {
	Herd    string   `json:"herd"`
	Fodders []Fodder `json:"fodders"`
}

// Nutrient is the weight of one nutrient in the blend.
type Nutrient struct {
	Name      string  `json:"name"`
	Kilograms float64 `json:"kilograms"`
}

type Analysis struct {
	Herd      string     `json:"herd"`
	Kilograms float64    `json:"kilograms"`
	Dry       float64    `json:"dry_kilograms"`
	Nutrients []Nutrient `json:"nutrients"`
}

func init() {
	latchwork.Step("Fodder.Blend", latchwork.Spec{
		Description: "Computes the nutrients of a blend of fodders.",
		Determinism: latchwork.Pure,
	}, analyze)
}

func analyze(_ latchwork.Context, blend Blend) (Analysis, error) {
	if len(blend.Fodders) == 0 {
		return Analysis{}, latchwork.Fail(latchwork.InvalidInput, "the blend for %s is empty", blend.Herd)
	}
	made := Analysis{Herd: blend.Herd, Nutrients: []Nutrient{}}
	weights := map[string]float64{}
	for _, fodder := range blend.Fodders {
		if err := check(fodder); err != nil {
			return Analysis{}, err
		}
		made.Kilograms += fodder.Kilograms
		for nutrient, share := range fodder.Shares {
			weights[nutrient] += fodder.Kilograms * share
		}
	}
	// Water is no nutrient, and no part of the dry weight.
	delete(weights, "water")
	for nutrient, kilograms := range weights {
		made.Dry += kilograms
		made.Nutrients = append(made.Nutrients, Nutrient{nutrient, kilograms})
	}
	slices.SortFunc(made.Nutrients, func(a, b Nutrient) int { return strings.Compare(a.Name, b.Name) })
	return made, nil
}

// check refuses a fodder whose shares are no shares, or are more than the whole.
func check(fodder Fodder) error {
	if fodder.Kilograms <= 0 || fodder.Kilograms > 50_000 {
		return latchwork.Fail(latchwork.InvalidInput, "%s: a weight is above 0 and at most 50000 kg", fodder.Name)
	}
	names := make([]string, 0, len(fodder.Shares))
	for nutrient := range fodder.Shares {
		names = append(names, nutrient)
	}
	slices.Sort(names)
	sum := 0.0
	for _, nutrient := range names {
		share := fodder.Shares[nutrient]
		if share < 0 || share > 1 {
			return latchwork.Fail(latchwork.InvalidInput, "%s: the share of %s is not from 0 to 1", fodder.Name, nutrient)
		}
		sum += share
	}
	if sum > 1.000001 {
		return latchwork.Fail(latchwork.InvalidInput, "%s: the shares are more than the whole", fodder.Name)
	}
	return nil
}

// main is empty: the host calls the operators.
func main() {}
