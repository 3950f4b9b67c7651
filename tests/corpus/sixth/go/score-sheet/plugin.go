// Adds up the scores of teams. Maps and goroutines are used on the way; every order in the output is that of the names,
// and each goroutine writes to its own place.
package main

import (
	"maps"
	"slices"
	"sync"

	"latchwork"
)

type Games struct {
	Games []Game `json:"games"`
}

type Game struct {
	Team  string  `json:"team"`
	Score float64 `json:"score"`
}

type Sheet struct {
	Teams []Team  `json:"teams"`
	Total float64 `json:"total"`
}

type Team struct {
	Team  string  `json:"team"`
	Games int     `json:"games"`
	Score float64 `json:"score"`
}

func init() {
	latchwork.Step("Score.Sheet", latchwork.Spec{
		Description: "Adds up the scores of teams.",
		Determinism: latchwork.Pure,
	}, sheet)
}

func sheet(_ latchwork.Context, games Games) (Sheet, error) {
	if len(games.Games) == 0 || len(games.Games) > 1000 {
		return Sheet{}, latchwork.Fail(latchwork.InvalidInput, "1 to 1000 games, please")
	}
	scores := map[string][]float64{}
	for _, game := range games.Games {
		if game.Score < 0 || game.Score > 1e6 {
			return Sheet{}, latchwork.Fail(latchwork.InvalidInput, "the score of %s is out of range", game.Team)
		}
		scores[game.Team] = append(scores[game.Team], game.Score)
	}
	names := slices.Sorted(maps.Keys(scores))
	made := Sheet{Teams: make([]Team, len(names))}
	var all sync.WaitGroup
	for i, name := range names {
		all.Add(1)
		go func() {
			defer all.Done()
			team := Team{Team: name, Games: len(scores[name])}
			for _, score := range scores[name] {
				team.Score += score
			}
			made.Teams[i] = team
		}()
	}
	all.Wait()
	for _, team := range made.Teams {
		made.Total += team.Score
	}
	slices.SortStableFunc(made.Teams, func(a, b Team) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
	return made, nil
}

// main is empty: the host calls the operators.
func main() {}
