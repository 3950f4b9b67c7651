package main

import (
	"hash/maphash"
	"slices"

	"latchwork"
)

type Posters struct {
	Titles []string `json:"titles"`
	Walls  int      `json:"walls"`
}

type Hanging struct {
	Walls [][]string `json:"walls"`
}

var seed = maphash.MakeSeed()

func init() {
	latchwork.Step("PosterGroup.Hang", latchwork.Spec{Description: "Distributes the posters of a conference over its walls."}, hang)
}

// wall gives every poster a fixed wall, so that late posters move no other one.
func wall(title string, walls int) int {
	return int(maphash.String(seed, title) % uint64(walls))
}

func hang(_ latchwork.Context, posters Posters) (Hanging, error) {
	if posters.Walls < 1 || posters.Walls > 12 {
		return Hanging{}, latchwork.Fail(latchwork.InvalidInput, "there are 1 to 12 walls")
	}
	walls := make([][]string, posters.Walls)
	for i := range walls {
		walls[i] = []string{}
	}
	for _, title := range posters.Titles {
		at := wall(title, posters.Walls)
		walls[at] = append(walls[at], title)
	}
	for _, one := range walls {
		slices.Sort(one)
	}
	return Hanging{walls}, nil
}

// main is empty: the host calls the operators.
func main() {}
