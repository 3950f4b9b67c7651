// Ranks candidates by a swap search. The search stops after its rounds, or when its time is used up.
package main

import (
	"time"

	"latchwork"
)

type Candidates struct {
	Scores []int `json:"scores"`
	Rounds int   `json:"rounds"`
}

type Ranking struct {
	Places []int `json:"places"`
}

func init() {
	latchwork.Step("Candidate.Rank", latchwork.Spec{
		Description: "Ranks candidates by their scores.",
		Determinism: latchwork.Pure,
		Limits:      latchwork.Limits{Timeout: 20 * time.Second},
	}, rank)
}

// search exchanges neighbours that are in the wrong order.
type search struct {
	scores, places []int
	until          time.Time
}

func (s *search) round() bool {
	swapped := false
	for i := 1; i < len(s.places); i++ {
		if s.scores[s.places[i]] > s.scores[s.places[i-1]] {
			s.places[i], s.places[i-1] = s.places[i-1], s.places[i]
			swapped = true
		}
	}
	return swapped
}

func (s *search) over(round int) bool {
	return round%64 == 63 && time.Now().After(s.until)
}

func rank(_ latchwork.Context, candidates Candidates) (Ranking, error) {
	count := len(candidates.Scores)
	if count == 0 || count > 500 || candidates.Rounds < 1 || candidates.Rounds > 1000 {
		return Ranking{}, latchwork.Fail(latchwork.InvalidInput, "1 to 500 candidates and 1 to 1000 rounds, please")
	}
	s := &search{scores: candidates.Scores, until: time.Now().Add(10 * time.Second)}
	for i := range count {
		s.places = append(s.places, i)
	}
	for round := range candidates.Rounds {
		if !s.round() || s.over(round) {
			break
		}
	}
	return Ranking{s.places}, nil
}

// main is empty: the host calls the operators.
func main() {}
