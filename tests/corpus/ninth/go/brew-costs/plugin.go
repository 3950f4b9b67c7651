package main

import (
	"maps"
	"slices"
	"sync"

	"latchwork"
)

const largest = 1_000_000

type Batch struct {
	Style string         `json:"style"`
	Grams map[string]int `json:"grams"`
}

type Month struct {
	// Prices of a kilogram, in cents.
	Prices  map[string]int `json:"prices"`
	Batches []Batch        `json:"batches"`
}

type Style struct {
	Style   string `json:"style"`
	Batches int    `json:"batches"`
	Cents   int    `json:"cents"`
}

type Costs struct {
	Styles []Style `json:"styles"`
	Cents  int     `json:"cents"`
}

func init() {
	latchwork.Step("Brew.Costs", latchwork.Spec{
		Description: "Sums up the costs of the ingredients of each style of beer.",
	}, costs)
}

func costs(_ latchwork.Context, month Month) (Costs, error) {
	if len(month.Batches) > 500 {
		return Costs{}, latchwork.Fail(latchwork.InvalidInput, "a month has at most 500 batches")
	}
	cents, failures := make([]int, len(month.Batches)), make([]error, len(month.Batches))
	var group sync.WaitGroup
	for i, batch := range month.Batches {
		group.Go(func() { cents[i], failures[i] = cost(batch, month.Prices) })
	}
	group.Wait()

	styles, total := map[string]*Style{}, 0
	for i, batch := range month.Batches {
		if failures[i] != nil {
			return Costs{}, failures[i]
		}
		style := styles[batch.Style]
		if style == nil {
			style = &Style{Style: batch.Style}
			styles[batch.Style] = style
		}
		style.Batches++
		style.Cents += cents[i]
		total += cents[i]
	}
	made := Costs{Styles: []Style{}, Cents: total}
	for _, style := range styles {
		made.Styles = append(made.Styles, *style)
	}
	slices.SortFunc(made.Styles, func(a, b Style) int {
		if a.Style < b.Style {
			return -1
		}
		return 1
	})
	return made, nil
}

func cost(batch Batch, prices map[string]int) (int, error) {
	if len(batch.Grams) > 100 {
		return 0, latchwork.Fail(latchwork.InvalidInput, "a batch of %s has more than 100 ingredients", batch.Style)
	}
	sum := 0
	for _, name := range slices.Sorted(maps.Keys(batch.Grams)) {
		price, known := prices[name]
		grams := batch.Grams[name]
		if !known || price < 0 || price > largest || grams < 0 || grams > largest {
			return 0, latchwork.Fail(latchwork.InvalidInput, "%s of %s has no usable price or weight", name, batch.Style)
		}
		sum += grams * price / 1000
	}
	return sum, nil
}

func main() {}
