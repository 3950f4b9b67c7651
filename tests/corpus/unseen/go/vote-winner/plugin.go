package main

import "latchwork"

type Votes struct {
	Votes []string `json:"votes"`
}

type Winner struct {
	Winner string `json:"winner"`
	Votes  int    `json:"votes"`
}

func init() {
	latchwork.Step("Vote.Winner", latchwork.Spec{
		Description: "Finds the winner of a vote.",
		Determinism: latchwork.Pure,
	}, winner)
}

func winner(_ latchwork.Context, votes Votes) (Winner, error) {
	counts := map[string]int{}
	for _, vote := range votes.Votes {
		counts[vote]++
	}
	if len(counts) == 0 {
		return Winner{}, latchwork.Fail(latchwork.InvalidInput, "there are no votes")
	}
	var best Winner
	for name, count := range counts {
		if count > best.Votes {
			best = Winner{name, count}
		}
	}
	return best, nil
}

// main is empty: the host calls the operators.
func main() {}
