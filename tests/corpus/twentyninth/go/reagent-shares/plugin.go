// Reagent-shares divides the waste fee of a laboratory among the reagents that its runs used.
package main

import (
	"slices"
	"strings"

	"latchwork"
)

type Run struct {
	Reagent string  `json:"reagent"`
	Litres  float64 `json:"litres"`
}

type Month struct {
	Runs []Run   `json:"runs"`
	Fee  float64 `json:"fee"`
}

type Share struct {
	Reagent string  `json:"reagent"`
	Litres  float64 `json:"litres"`
	Fee     float64 `json:"fee"`
}

type Division struct {
	Litres float64 `json:"litres"`
	Shares []Share `json:"shares"`
}

func init() {
	latchwork.Step("Reagent.Divide", latchwork.Spec{
		Description: "Divides the waste fee of a month among the reagents.",
		Determinism: latchwork.Pure,
		Input: latchwork.Schema(`{"type":"object","properties":{
			"runs":{"type":"array","maxItems":2000,"items":{"type":"object","properties":{
				"reagent":{"type":"string","maxLength":60},"litres":{"type":"number","minimum":0,"maximum":10000}},
				"required":["reagent","litres"],"additionalProperties":false}},
			"fee":{"type":"number","minimum":0,"maximum":1000000}},
			"required":["runs","fee"],"additionalProperties":false}`),
	}, divide)
}

// used adds up the litres of each reagent. Laboratories write the same reagent with other capitals.
func used(runs []Run) (map[string]float64, error) {
	litres := make(map[string]float64)
	for i, run := range runs {
		name := strings.ToLower(strings.TrimSpace(run.Reagent))
		if name == "" {
			return nil, latchwork.Fail(latchwork.InvalidInput, "run %d names no reagent", i+1)
		}
		litres[name] += run.Litres
	}
	return litres, nil
}

func sum(litres map[string]float64) float64 {
	total := 0.0
	for _, amount := range litres {
		total += amount
	}
	return total
}

func divide(_ latchwork.Context, month Month) (Division, error) {
	litres, err := used(month.Runs)
	if err != nil {
		return Division{}, err
	}
	total := sum(litres)
	if total == 0 {
		return Division{}, latchwork.Fail(latchwork.InvalidInput, "the month has no waste to divide")
	}
	shares := make([]Share, 0, len(litres))
	for name, amount := range litres {
		shares = append(shares, Share{Reagent: name, Litres: amount, Fee: month.Fee * amount / total})
	}
	// Maps have no order: the list is sorted by the name, which is unique.
	slices.SortFunc(shares, func(a, b Share) int { return strings.Compare(a.Reagent, b.Reagent) })
	return Division{Litres: total, Shares: shares}, nil
}

func main() {}
