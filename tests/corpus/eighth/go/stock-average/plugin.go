package main

import (
	"log/slog"

	"latchwork"
)

type Ask struct {
	Article string   `json:"article"`
	Stores  []string `json:"stores"`
}

type Stock struct {
	Pieces int `json:"pieces"`
}

type Average struct {
	Stores int `json:"stores"`
	Pieces int `json:"pieces"`
	Each   int `json:"each"`
}

func init() {
	latchwork.Step("Stock.Average", latchwork.Spec{
		Description: "Computes the average stock of an article in the stores that answer.",
		Determinism: latchwork.External,
	}, average)
}

func average(_ latchwork.Context, ask Ask) (Average, error) {
	if len(ask.Stores) == 0 {
		return Average{}, latchwork.Fail(latchwork.InvalidInput, "no stores were named")
	}
	var requests []latchwork.Request
	for _, store := range ask.Stores {
		requests = append(requests, latchwork.Request{
			Operator: "Store.Stock",
			Args:     map[string]string{"store": store, "article": ask.Article},
		})
	}
	answers, err := latchwork.CallAll(requests...)
	if err != nil {
		return Average{}, err
	}
	var sum Average
	for i, answer := range answers {
		var stock Stock
		if err := answer.Into(&stock); err != nil {
			slog.Warn("a store is left out", "store", ask.Stores[i], "why", err.Error())
			continue
		}
		sum.Stores++
		sum.Pieces += stock.Pieces
	}
	sum.Each = sum.Pieces / sum.Stores
	return sum, nil
}

func main() {}
