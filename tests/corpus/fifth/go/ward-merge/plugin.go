// Merges the counts of the wards of a hospital. Each ward is counted by a goroutine of its own into its own map. The
// maps are merged when all goroutines have ended, and the merged counts are sorted by name.
package main

import (
	"maps"
	"slices"
	"sync"

	"latchwork"
)

type Stock struct {
	Wards [][]string `json:"wards"`
}

type Count struct {
	Item  string `json:"item"`
	Count int    `json:"count"`
}

type Merged struct {
	Counts []Count `json:"counts"`
}

func init() {
	latchwork.Step("Ward.Merge", latchwork.Spec{
		Description: "Merges the counts of the wards of a hospital.",
		Determinism: latchwork.Pure,
	}, merge)
}

func merge(_ latchwork.Context, stock Stock) (Merged, error) {
	counted := make([]map[string]int, len(stock.Wards))
	var all sync.WaitGroup
	for i, ward := range stock.Wards {
		all.Go(func() {
			counts := map[string]int{}
			for _, item := range ward {
				counts[item]++
			}
			counted[i] = counts
		})
	}
	all.Wait()
	sums := map[string]int{}
	for _, counts := range counted {
		for item, count := range counts {
			sums[item] += count
		}
	}
	merged := Merged{Counts: []Count{}}
	for _, item := range slices.Sorted(maps.Keys(sums)) {
		merged.Counts = append(merged.Counts, Count{item, sums[item]})
	}
	return merged, nil
}

// main is empty: the host calls the operators.
func main() {}
