package main

import (
	"sort"

	"latchwork"
)

type Line struct {
	Spice string  `json:"spice"`
	Grams float64 `json:"grams"`
}

type Recipe struct {
	Blend string `json:"blend"`
	Lines []Line `json:"lines"`
}

type Share struct {
	Spice   string  `json:"spice"`
	Grams   float64 `json:"grams"`
	Percent float64 `json:"percent"`
}

type Blend struct {
	Blend  string  `json:"blend"`
	Grams  float64 `json:"grams"`
	Shares []Share `json:"shares"`
}

func init() {
	latchwork.Step("Blend.Weigh", latchwork.Spec{
		Description: "Merges the lines of a spice blend and gives the share of each spice.",
		Determinism: latchwork.Pure,
	}, weigh)
}

func weigh(_ latchwork.Context, recipe Recipe) (Blend, error) {
	grams := map[string]float64{}
	for _, line := range recipe.Lines {
		if line.Grams <= 0 || line.Grams > 1e6 {
			return Blend{}, latchwork.Fail(latchwork.InvalidInput, "%s: %g grams", line.Spice, line.Grams)
		}
		grams[line.Spice] += line.Grams
	}
	if len(grams) == 0 {
		return Blend{}, latchwork.Fail(latchwork.InvalidInput, "%s has no spices", recipe.Blend)
	}

	total := 0.0
	for _, g := range grams {
		total += g
	}

	blend := Blend{Blend: recipe.Blend, Grams: total, Shares: []Share{}}
	for spice, g := range grams {
		blend.Shares = append(blend.Shares, Share{spice, g, g / total * 100})
	}
	sort.Slice(blend.Shares, func(i, j int) bool { return blend.Shares[i].Spice < blend.Shares[j].Spice })
	return blend, nil
}

func main() {}
