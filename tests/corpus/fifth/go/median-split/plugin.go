// Splits the runners of a race into two groups at the median of their times. The median is found by quickselect. Its
// pivots are random, so that no order of the input is slow, and the median is the same with every pivot.
package main

import (
	"math/rand"

	"latchwork"
)

type Runner struct {
	Name    string `json:"name"`
	Seconds int    `json:"seconds"`
}

type Race struct {
	Runners []Runner `json:"runners"`
}

type Groups struct {
	Median int      `json:"median"`
	Fast   []string `json:"fast"`
	Slow   []string `json:"slow"`
}

func init() {
	latchwork.Step("Race.Split", latchwork.Spec{
		Description: "Splits the runners of a race at the median of their times.",
		Determinism: latchwork.Pure,
	}, split)
}

func split(_ latchwork.Context, race Race) (Groups, error) {
	if len(race.Runners) == 0 {
		return Groups{}, latchwork.Fail(latchwork.InvalidInput, "no runner is given")
	}
	times := make([]int, len(race.Runners))
	for i, runner := range race.Runners {
		times[i] = runner.Seconds
	}
	groups := Groups{Median: choose(times, (len(times)-1)/2), Fast: []string{}, Slow: []string{}}
	for _, runner := range race.Runners {
		if runner.Seconds <= groups.Median {
			groups.Fast = append(groups.Fast, runner.Name)
		} else {
			groups.Slow = append(groups.Slow, runner.Name)
		}
	}
	return groups, nil
}

// choose returns the value that is at place k in the sorted list.
func choose(values []int, k int) int {
	for {
		pivot := values[rand.Intn(len(values))]
		var below, above []int
		equal := 0
		for _, value := range values {
			switch {
			case value < pivot:
				below = append(below, value)
			case value > pivot:
				above = append(above, value)
			default:
				equal++
			}
		}
		switch {
		case k < len(below):
			values = below
		case k < len(below)+equal:
			return pivot
		default:
			k -= len(below) + equal
			values = above
		}
	}
}

// main is empty: the host calls the operators.
func main() {}
