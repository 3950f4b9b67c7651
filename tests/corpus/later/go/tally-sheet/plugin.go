package main

import (
	"fmt"
	"maps"
	"slices"

	"latchwork"
)

type Vote struct {
	Station string `json:"station"`
	Choice  string `json:"choice"`
	Count   int    `json:"count"`
}

type Votes struct {
	Votes []Vote `json:"votes"`
}

type Tally struct {
	ByChoice  map[string]int `json:"by_choice"`
	ByStation string         `json:"by_station"`
	Order     []string       `json:"order"`
	Total     int            `json:"total"`
}

func init() {
	latchwork.Step("Vote.Tally", latchwork.Spec{
		Description: "Adds up the votes of all stations.",
		Determinism: latchwork.Pure,
	}, tally)
}

func tally(_ latchwork.Context, votes Votes) (Tally, error) {
	if len(votes.Votes) == 0 {
		return Tally{}, latchwork.Fail(latchwork.InvalidInput, "there are no votes")
	}
	byChoice, byStation := map[string]int{}, map[string]int{}
	for i, vote := range votes.Votes {
		if vote.Count < 0 || vote.Count > 1_000_000 {
			return Tally{}, latchwork.Fail(latchwork.InvalidInput, "vote %d has the count %d", i, vote.Count)
		}
		byChoice[vote.Choice] += vote.Count
		byStation[vote.Station] += vote.Count
	}
	total := 0
	for _, count := range byChoice {
		total += count
	}
	// The choices with most votes come first, and equal ones by name.
	order := slices.SortedFunc(maps.Keys(byChoice), func(a, b string) int {
		if byChoice[a] != byChoice[b] {
			return byChoice[b] - byChoice[a]
		}
		if a < b {
			return -1
		}
		return 1
	})
	// Package fmt prints maps in the order of their keys.
	return Tally{byChoice, fmt.Sprint(byStation), order, total}, nil
}

// main is empty: the host calls the operators.
func main() {}
