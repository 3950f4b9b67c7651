// Asks several halls for the price of an evening and chooses the cheapest one. A hall that does not answer is left out.
package main

import (
	"cmp"
	"log/slog"
	"slices"

	"latchwork"
)

type Evening struct {
	Halls  []string `json:"halls"`
	Guests int      `json:"guests"`
}

type Price struct {
	Cents int64 `json:"cents"`
}

type Choice struct {
	Hall  string `json:"hall"`
	Cents int64  `json:"cents"`
}

func init() {
	latchwork.Step("Hall.Choose", latchwork.Spec{
		Description: "Chooses the cheapest hall for an evening.",
		Determinism: latchwork.External,
	}, choose)
}

func choose(_ latchwork.Context, evening Evening) (Choice, error) {
	if len(evening.Halls) == 0 {
		return Choice{}, latchwork.Fail(latchwork.InvalidInput, "no hall is given")
	}
	found := make(chan Choice)
	go ask(evening, found)
	offers := make([]Choice, 0, len(evening.Halls))
	for range evening.Halls {
		offer := <-found
		if offer.Cents > 0 {
			offers = append(offers, offer)
		}
	}
	if len(offers) == 0 {
		return Choice{}, latchwork.Fail(latchwork.DependencyUnavailable, "no hall has an offer")
	}
	slices.SortStableFunc(offers, func(a, b Choice) int { return cmp.Compare(a.Cents, b.Cents) })
	return offers[0], nil
}

// ask asks one hall after the other. A hall that is full answers with the price 0.
func ask(evening Evening, found chan<- Choice) {
	for _, hall := range evening.Halls {
		price, err := latchwork.Call[Price]("Hall.Price", map[string]any{"hall": hall, "guests": evening.Guests})
		if err != nil {
			slog.Warn("no offer", "hall", hall, "reason", err)
			continue
		}
		found <- Choice{hall, price.Cents}
	}
}

// main is empty: the host calls the operators.
func main() {}
