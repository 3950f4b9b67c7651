package main

import (
	"encoding/json"
	"strings"

	"latchwork"
)

// Rents are the rents of an allotment garden for one month, in cents.
type Rents struct {
	Garden string `json:"garden"`
	Year   int    `json:"year"`
	Month  string `json:"month"`
	Plots  []Plot `json:"plots"`
}

// Plot is a plot with its tenant.
type Plot struct {
	Plot   string `json:"plot"`
	Tenant string `json:"tenant"`
	Square int    `json:"square_metres"`
}

// Charged is the result of the month.
type Charged struct {
	Receipts []string `json:"receipts"`
	Total    int      `json:"total"`
}

type charge struct {
	Garden string `json:"garden"`
	Plot   string `json:"plot"`
	Tenant string `json:"tenant"`
	Cents  int    `json:"cents"`
}

type receipt struct {
	Receipt string `json:"receipt"`
}

const months = " january february march april may june july august september october november december "

func init() {
	latchwork.Step("Allotment.Charge", latchwork.Spec{
		Description: "Charges the rents of an allotment garden for a month.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
		Determinism: latchwork.External,
	}, charges)
}

func charges(_ latchwork.Context, rents Rents) (Charged, error) {
	if rents.Year < 1990 || rents.Year > 2200 || strings.Contains(rents.Month, " ") || !strings.Contains(months, " "+rents.Month+" ") {
		return Charged{}, latchwork.Fail(latchwork.InvalidInput, "there is no month %q of %d", rents.Month, rents.Year)
	}
	known := map[string]bool{}
	for _, plot := range rents.Plots {
		if known[plot.Plot] {
			return Charged{}, latchwork.Fail(latchwork.InvalidInput, "plot %q is listed twice", plot.Plot)
		}
		if plot.Square < 1 || plot.Square > 2000 {
			return Charged{}, latchwork.Fail(latchwork.InvalidInput, "plot %q has %d square metres", plot.Plot, plot.Square)
		}
		known[plot.Plot] = true
	}
	done := Charged{Receipts: []string{}}
	for _, plot := range rents.Plots {
		cents := 250 + 12*plot.Square
		// A plot pays once for a month.
		key, err := json.Marshal([]string{"allotment-rent", rents.Garden, plot.Plot, plot.Tenant, rents.Month})
		if err != nil {
			return Charged{}, err
		}
		paid, err := latchwork.Call[receipt]("Ledger.Charge", charge{rents.Garden, plot.Plot, plot.Tenant, cents}, string(key))
		if err != nil {
			return Charged{}, err
		}
		done.Receipts = append(done.Receipts, paid.Receipt)
		done.Total += cents
	}
	return done, nil
}

func main() {}
