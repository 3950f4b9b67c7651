// Command olive-harvest ranks the groves of an estate by the olives that were picked in them.
package main

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"latchwork"
)

// Crate is one crate of olives, as the mill weighs it.
type Crate struct {
	Grove  string `json:"grove"`
	Picker string `json:"picker"`
	Grams  int    `json:"grams"`
}

type Input struct {
	Crates []Crate `json:"crates"`
}

type Grove struct {
	Grove   string `json:"grove"`
	Grams   int    `json:"grams"`
	Crates  int    `json:"crates"`
	Pickers int    `json:"pickers"`
	Best    string `json:"best_picker"`
}

type Ranking struct {
	Groves []Grove `json:"groves"`
	Grams  int     `json:"grams"`
	Mean   int     `json:"mean_grams"`
}

func init() {
	latchwork.Step("Harvest.Rank", latchwork.Spec{
		Description: "Ranks groves by the olives that were picked in them.",
	}, rank)
}

// best returns the picker with the most olives. Of pickers with equal weight it returns the first by name.
func best(pickers map[string]int) string {
	found, most := "", -1
	for picker, grams := range pickers {
		if grams > most || grams == most && picker < found {
			found, most = picker, grams
		}
	}
	return found
}

func rank(_ latchwork.Context, in Input) (Ranking, error) {
	pickers := map[string]map[string]int{}
	crates := map[string]int{}
	for i, crate := range in.Crates {
		grove, picker := strings.TrimSpace(crate.Grove), strings.TrimSpace(crate.Picker)
		if grove == "" || picker == "" {
			return Ranking{}, latchwork.Fail(latchwork.InvalidInput, "crate %d has no grove or no picker", i+1)
		}
		if crate.Grams < 1 || crate.Grams > 60000 {
			return Ranking{}, latchwork.Fail(latchwork.InvalidInput, "crate %d cannot weigh %d grams", i+1, crate.Grams)
		}
		if pickers[grove] == nil {
			pickers[grove] = map[string]int{}
		}
		pickers[grove][picker] += crate.Grams
		crates[grove]++
	}

	made := Ranking{Groves: []Grove{}}
	for name, by := range pickers {
		grove := Grove{Grove: name, Crates: crates[name], Pickers: len(by), Best: best(by)}
		for grams := range maps.Values(by) {
			grove.Grams += grams
		}
		made.Grams += grove.Grams
		made.Groves = append(made.Groves, grove)
	}
	slices.SortFunc(made.Groves, func(a, b Grove) int {
		return cmp.Or(cmp.Compare(b.Grams, a.Grams), strings.Compare(a.Grove, b.Grove))
	})
	if len(made.Groves) > 0 {
		made.Mean = made.Grams / len(made.Groves)
	}
	return made, nil
}

// main is empty: the host calls the operators.
func main() {}
