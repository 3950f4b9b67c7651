// Command departure-board collects the next departures of several stops, by platform.
package main

import (
	"cmp"
	"log/slog"
	"maps"
	"slices"
	"time"

	"latchwork"
)

type Board struct {
	Stops []string `json:"stops"`
	// Most is the number of departures that a platform shows.
	Most int `json:"most"`
}

type Departure struct {
	Line    string `json:"line"`
	Minutes int    `json:"minutes"`
	Stop    string `json:"stop"`
}

type Platform struct {
	Platform   string      `json:"platform"`
	Departures []Departure `json:"departures"`
}

type Shown struct {
	At        time.Time  `json:"at"`
	Platforms []Platform `json:"platforms"`
	// Silent has the stops that gave no answer.
	Silent []string `json:"silent"`
}

type answer struct {
	Departures []struct {
		Line     string `json:"line"`
		Platform string `json:"platform"`
		Minutes  int    `json:"minutes"`
	} `json:"departures"`
}

func init() {
	latchwork.Step("Board.Show", latchwork.Spec{
		Description: "Collects the next departures of several stops.",
		Determinism: latchwork.External,
	}, show)
}

func show(_ latchwork.Context, board Board) (Shown, error) {
	if len(board.Stops) < 1 || len(board.Stops) > 40 {
		return Shown{}, latchwork.Fail(latchwork.InvalidInput, "a board has 1 to 40 stops")
	}
	if board.Most < 1 || board.Most > 20 {
		return Shown{}, latchwork.Fail(latchwork.InvalidInput, "a platform shows 1 to 20 departures")
	}
	requests := []latchwork.Request{}
	for _, stop := range board.Stops {
		requests = append(requests, latchwork.Request{Operator: "Stop.Departures", Args: map[string]string{"stop": stop}})
	}
	answers, err := latchwork.CallAll(requests...)
	if err != nil {
		return Shown{}, err
	}

	made := Shown{At: time.Now().UTC().Truncate(time.Minute), Platforms: []Platform{}, Silent: []string{}}
	platforms := map[string][]Departure{}
	for i, stop := range board.Stops {
		var told answer
		if err := answers[i].Into(&told); err != nil {
			slog.Warn("no departures", "stop", stop, "reason", err)
			made.Silent = append(made.Silent, stop)
			continue
		}
		for _, next := range told.Departures {
			platforms[next.Platform] = append(platforms[next.Platform], Departure{next.Line, next.Minutes, stop})
		}
	}
	if len(made.Silent) == len(board.Stops) {
		return Shown{}, latchwork.Fail(latchwork.DependencyUnavailable, "none of %d stops answered", len(board.Stops))
	}
	for _, departures := range platforms {
		slices.SortFunc(departures, func(a, b Departure) int {
			return cmp.Or(cmp.Compare(a.Minutes, b.Minutes), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Stop, b.Stop))
		})
	}
	for _, platform := range slices.Sorted(maps.Keys(platforms)) {
		next := platforms[platform]
		made.Platforms = append(made.Platforms, Platform{platform, next[:min(len(next), board.Most)]})
	}
	return made, nil
}

// main is empty: the host calls the operators.
func main() {}
