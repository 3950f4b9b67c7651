// Command pollen-count sums the pollen grains of a station over a period.
package main

import (
	"errors"
	"log/slog"

	"latchwork"
)

const (
	pageSize = 100
	maxPages = 200
)

type Period struct {
	Station string `json:"station"`
	From    string `json:"from"`
	To      string `json:"to"`
}

type Query struct {
	Station string `json:"station"`
	From    string `json:"from"`
	To      string `json:"to"`
	Cursor  string `json:"cursor"`
	Limit   int    `json:"limit"`
}

type Page struct {
	Rows []struct {
		Taxon  string `json:"taxon"`
		Grains int    `json:"grains"`
	} `json:"rows"`
	Next string `json:"next"`
}

type Season struct {
	Station string         `json:"station"`
	Rows    int            `json:"rows"`
	Grains  map[string]int `json:"grains"`
}

func init() {
	latchwork.Step("Pollen.Season", latchwork.Spec{
		Description: "Sums the pollen grains of each taxon at a station over a period.",
		Determinism: latchwork.External,
	}, season)
}

func season(_ latchwork.Context, period Period) (Season, error) {
	if period.Station == "" || period.From > period.To {
		return Season{}, latchwork.Fail(latchwork.InvalidInput, "a station and a period are needed")
	}
	made := Season{Station: period.Station, Grains: map[string]int{}}
	query := Query{Station: period.Station, From: period.From, To: period.To, Limit: pageSize}
	for pages := 0; pages < maxPages; {
		page, err := latchwork.Call[Page]("Pollen.List", query)
		if tooSlow(err) {
			// The archive gives up on large pages at busy hours. Smaller ones go through.
			query.Limit = max(query.Limit/2, 5)
			slog.Warn("the archive did not answer", "cursor", query.Cursor, "limit", query.Limit)
			continue
		}
		if err != nil {
			return Season{}, err
		}
		pages++
		for _, row := range page.Rows {
			if row.Grains < 0 || row.Grains > 1_000_000 {
				return Season{}, latchwork.Fail(latchwork.SchemaValidationFailed, "%d grains of %s", row.Grains, row.Taxon)
			}
			made.Grains[row.Taxon] += row.Grains
			made.Rows++
		}
		if page.Next == "" {
			return made, nil
		}
		query.Cursor = page.Next
	}
	return Season{}, latchwork.Fail(latchwork.InvalidInput, "the period has more than %d pages", maxPages)
}

func tooSlow(err error) bool {
	var failure *latchwork.Failure
	if !errors.As(err, &failure) {
		return false
	}
	return failure.Code == latchwork.NetworkTimeout || failure.Code == latchwork.TemporaryProviderError
}

// main is empty: the host calls the operators.
func main() {}
