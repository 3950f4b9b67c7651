// The weekly letter of a community garden: one post to each list, with what the heaps need this week.
package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"latchwork"
)

type Heap struct {
	Name  string  `json:"name"`
	TempC float64 `json:"temp_c"`
	Wet   bool    `json:"wet"`
}

type Garden struct {
	Garden string   `json:"garden"`
	Lists  []string `json:"lists"`
	Heaps  []Heap   `json:"heaps"`
}

type Posted struct {
	ID string `json:"id"`
}

type Digest struct {
	Week  string   `json:"week"`
	Posts []string `json:"posts"`
}

func init() {
	latchwork.Step("Compost.Digest", latchwork.Spec{
		Description: "Posts the weekly letter of a garden to its lists.",
		Effects:     []latchwork.Effect{latchwork.ExternalSend},
		Determinism: latchwork.External,
	}, digest)
}

func advice(heap Heap) string {
	switch {
	case heap.TempC > 65:
		return heap.Name + ": turn it, it is too hot"
	case heap.Wet:
		return heap.Name + ": add straw"
	case heap.TempC < 20:
		return heap.Name + ": add fresh cuttings"
	}
	return heap.Name + ": leave it alone"
}

// postKey is the action key of a post: the plan runs every night, and each list gets one letter in a week.
func postKey(garden, list string, now time.Time) string {
	_, week := now.ISOWeek()
	key, _ := json.Marshal([]any{"compost-digest", garden, list, week})
	return string(key)
}

func digest(_ latchwork.Context, garden Garden) (Digest, error) {
	if garden.Garden == "" || len(garden.Heaps) == 0 {
		return Digest{}, latchwork.Fail(latchwork.InvalidInput, "a digest needs a garden with heaps")
	}
	lists := slices.Clone(garden.Lists)
	slices.Sort(lists)
	if len(slices.Compact(slices.Clone(lists))) < len(lists) {
		return Digest{}, latchwork.Fail(latchwork.InvalidInput, "%s names a list twice", garden.Garden)
	}
	now := time.Now().UTC()
	_, week := now.ISOWeek()
	lines := make([]string, len(garden.Heaps))
	for i, heap := range garden.Heaps {
		lines[i] = advice(heap)
	}
	made := Digest{Week: fmt.Sprintf("week %d", week), Posts: []string{}}
	for _, list := range lists {
		posted, err := latchwork.Call[Posted]("List.Post", map[string]string{
			"list":    list,
			"subject": fmt.Sprintf("%s, week %d", garden.Garden, week),
			"text":    strings.Join(lines, "\n"),
		}, postKey(garden.Garden, list, now))
		if err != nil {
			return Digest{}, fmt.Errorf("list %s: %w", list, err)
		}
		made.Posts = append(made.Posts, posted.ID)
	}
	return made, nil
}

func main() {}
