package main

import (
	"math/rand"
	"slices"
	"strings"
	"sync"

	"latchwork"
)

type Evening struct {
	// Players has the points of earlier evenings by the name of the player.
	Players map[string]int `json:"players"`
	Size    int            `json:"size"`
}

type Group struct {
	Members []string `json:"members"`
	Points  int      `json:"points"`
}

type Draw struct {
	Groups []Group `json:"groups"`
	Leader string  `json:"leader"`
}

func init() {
	latchwork.Step("Quiz.Draw", latchwork.Spec{
		Description: "Draws the groups of a quiz evening.",
		// The draw uses random numbers.
		Determinism: latchwork.Stable,
	}, draw)
}

func draw(_ latchwork.Context, evening Evening) (Draw, error) {
	if evening.Size < 2 || evening.Size > 12 {
		return Draw{}, latchwork.Fail(latchwork.InvalidInput, "a group has 2 to 12 members, not %d", evening.Size)
	}
	var names, invalid []string
	for name, points := range evening.Players {
		names = append(names, name)
		if strings.TrimSpace(name) == "" || points < 0 || points > 100000 {
			invalid = append(invalid, name)
		}
	}
	// The order of a map differs between jobs.
	slices.Sort(names)
	slices.Sort(invalid)
	if len(invalid) > 0 {
		return Draw{}, latchwork.Fail(latchwork.InvalidInput, "no name or no valid points: %q", invalid)
	}
	if len(names) < evening.Size {
		return Draw{}, latchwork.Fail(latchwork.InvalidInput, "%d players fill no group", len(names))
	}
	leader := slices.MaxFunc(names, func(a, b string) int { return evening.Players[a] - evening.Players[b] })
	rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })

	// The last group may be smaller.
	groups := make([]Group, (len(names)+evening.Size-1)/evening.Size)
	var counted sync.WaitGroup
	for i := range groups {
		members := names[i*evening.Size : min((i+1)*evening.Size, len(names))]
		counted.Add(1)
		// Each goroutine has a place of its own for its result.
		go func() {
			defer counted.Done()
			groups[i].Members = slices.Clone(members)
			for _, name := range members {
				groups[i].Points += evening.Players[name]
			}
			slices.Sort(groups[i].Members)
		}()
	}
	counted.Wait()
	return Draw{groups, leader}, nil
}

// main is empty: the host calls the operators.
func main() {}
