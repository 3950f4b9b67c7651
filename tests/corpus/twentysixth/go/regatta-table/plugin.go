// Package main makes the table of a regatta from the finishes of its races.
package main

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"latchwork"
)

type Regatta struct {
	Races [][]string `json:"races"`
	// Discards is the number of the worst races of each boat that do not count.
	Discards int `json:"discards"`
}

type Line struct {
	Boat   string `json:"boat"`
	Points int    `json:"points"`
	Wins   int    `json:"wins"`
}

type Table struct {
	Lines []Line `json:"lines"`
}

func init() {
	latchwork.Step("Regatta.Rank", latchwork.Spec{Description: "Ranks the boats of a regatta."}, rank)
}

// places has the place of each boat in one race.
func places(race []string) map[string]int {
	found := map[string]int{}
	for i, boat := range race {
		found[boat] = i + 1
	}
	return found
}

func rank(_ latchwork.Context, regatta Regatta) (Table, error) {
	if len(regatta.Races) == 0 {
		return Table{}, latchwork.Fail(latchwork.InvalidInput, "there was no race")
	}
	if regatta.Discards < 0 || regatta.Discards >= len(regatta.Races) {
		return Table{}, latchwork.Fail(latchwork.InvalidInput, "at least one race has to count")
	}
	// Each race has a place of its own for its result, so the order of the goroutines does not matter.
	results := make([]map[string]int, len(regatta.Races))
	var all sync.WaitGroup
	for i, race := range regatta.Races {
		all.Add(1)
		go func() {
			defer all.Done()
			results[i] = places(race)
		}()
	}
	all.Wait()

	boats := map[string]bool{}
	for i, race := range regatta.Races {
		if len(results[i]) != len(race) {
			return Table{}, latchwork.Fail(latchwork.InvalidInput, "a boat finished twice in race %d", i+1)
		}
		for _, boat := range race {
			boats[boat] = true
		}
	}

	lines := []Line{}
	for boat := range maps.Keys(boats) {
		line := Line{Boat: boat}
		points := []int{}
		for _, result := range results {
			place, finished := result[boat]
			if !finished {
				place = len(boats) + 1
			}
			if place == 1 {
				line.Wins++
			}
			points = append(points, place)
		}
		slices.Sort(points)
		for _, place := range points[:len(points)-regatta.Discards] {
			line.Points += place
		}
		lines = append(lines, line)
	}
	// The name decides at last, so no two lines compare as equal.
	slices.SortFunc(lines, func(a, b Line) int {
		return cmp.Or(cmp.Compare(a.Points, b.Points), cmp.Compare(b.Wins, a.Wins), cmp.Compare(a.Boat, b.Boat))
	})
	return Table{lines}, nil
}

func main() {}
