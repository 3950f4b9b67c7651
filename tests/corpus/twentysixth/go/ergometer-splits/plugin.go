// Package main ranks rowers by their 2000 metres on the ergometer.
package main

import (
	"cmp"
	"slices"

	"latchwork"
)

type Rower struct {
	Name string `json:"name"`
	// Splits are the times of the four stretches of 500 metres, in tenths of a second.
	Splits []int `json:"splits"`
}

type Race struct {
	Rowers []Rower `json:"rowers"`
}

type Rank struct {
	Place int    `json:"place"`
	Name  string `json:"name"`
	Total int    `json:"total"`
	Worst int    `json:"worst"`
}

type Ranking struct {
	Ranks []Rank `json:"ranks"`
}

func init() {
	latchwork.Step("Ergometer.Rank", latchwork.Spec{
		Description: "Ranks rowers by their splits.",
	}, rank)
}

func rank(_ latchwork.Context, race Race) (Ranking, error) {
	if len(race.Rowers) == 0 {
		return Ranking{}, latchwork.Fail(latchwork.InvalidInput, "the race has no rowers")
	}
	seen := map[string]bool{}
	for _, rower := range race.Rowers {
		if rower.Name == "" || seen[rower.Name] {
			return Ranking{}, latchwork.Fail(latchwork.InvalidInput, "%q is no name of its own", rower.Name)
		}
		seen[rower.Name] = true
		if len(rower.Splits) != 4 || slices.Min(rower.Splits) < 700 || slices.Max(rower.Splits) > 3000 {
			return Ranking{}, latchwork.Fail(latchwork.InvalidInput, "%s does not have four splits", rower.Name)
		}
	}

	done := make(chan Rank)
	for _, rower := range race.Rowers {
		go func() {
			result := Rank{Name: rower.Name}
			for _, split := range rower.Splits {
				result.Total += split
				result.Worst = max(result.Worst, split)
			}
			done <- result
		}()
	}
	ranks := []Rank{}
	for range race.Rowers {
		ranks = append(ranks, <-done)
	}
	slices.SortStableFunc(ranks, func(a, b Rank) int { return cmp.Compare(a.Total, b.Total) })
	for i := range ranks {
		ranks[i].Place = i + 1
		if i > 0 && ranks[i].Total == ranks[i-1].Total {
			ranks[i].Place = ranks[i-1].Place
		}
	}
	return Ranking{ranks}, nil
}

func main() {}
