package main

import (
	"errors"
	"log/slog"
	"math"

	"latchwork"
)

const (
	sectors  = 8
	maxPages = 60
)

type Query struct {
	Station string `json:"station"`
	Month   string `json:"month"`
}

type PageQuery struct {
	Station string `json:"station"`
	Month   string `json:"month"`
	Page    int    `json:"page"`
}

type Gust struct {
	Degrees float64 `json:"degrees"`
	Speed   float64 `json:"speed"`
}

type Page struct {
	Pages int    `json:"pages"`
	Gusts []Gust `json:"gusts"`
}

type Rose struct {
	Station string           `json:"station"`
	Gusts   int              `json:"gusts"`
	Sectors [sectors]int     `json:"sectors"`
	Highest [sectors]float64 `json:"highest"`
}

func init() {
	latchwork.Step("Windrose.Pull", latchwork.Spec{
		Description: "Makes the wind rose of a station for one month.",
		Determinism: latchwork.External,
	}, pull)
}

// isPassing returns true for an error of a service that works again a little later.
func isPassing(err error) bool {
	var failure *latchwork.Failure
	if !errors.As(err, &failure) {
		return false
	}
	return failure.Code == latchwork.NetworkTimeout || failure.Code == latchwork.DependencyUnavailable
}

func pull(_ latchwork.Context, query Query) (Rose, error) {
	rose := Rose{Station: query.Station}
	for number := 1; ; {
		page, err := latchwork.Call[Page]("Wind.Page", PageQuery{query.Station, query.Month, number})
		if isPassing(err) {
			// The service is down for minutes at times. The same page is asked for again.
			slog.Warn("no page", "station", query.Station, "page", number)
			continue
		}
		if err != nil {
			return Rose{}, err
		}
		if page.Pages > maxPages {
			return Rose{}, latchwork.Fail(latchwork.SchemaValidationFailed, "%s has more than %d pages", query.Station, maxPages)
		}
		for _, gust := range page.Gusts {
			if gust.Degrees < 0 || gust.Degrees > 360 {
				continue
			}
			sector := int(math.Round(gust.Degrees/(360/sectors))) % sectors
			rose.Gusts++
			rose.Sectors[sector]++
			rose.Highest[sector] = max(rose.Highest[sector], gust.Speed)
		}
		if number++; number > page.Pages {
			return rose, nil
		}
	}
}

// main is empty: the host calls the operators.
func main() {}
