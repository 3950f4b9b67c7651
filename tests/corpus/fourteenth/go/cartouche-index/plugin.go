// Command cartouche-index makes an index of the royal names on the walls of a temple.
package main

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"latchwork"
)

type Cartouche struct {
	Wall  string `json:"wall"`
	Text  string `json:"text"`
	Ruler string `json:"ruler"`
}

type Temple struct {
	Cartouches []Cartouche `json:"cartouches"`
}

type Entry struct {
	Ruler    string   `json:"ruler"`
	Count    int      `json:"count"`
	Walls    []string `json:"walls"`
	Variants []string `json:"variants"`
}

type Index struct {
	Entries  []Entry `json:"entries"`
	Signs    int     `json:"signs"`
	MostUsed string  `json:"most_used"`
}

func init() {
	latchwork.Step("Cartouche.Index", latchwork.Spec{Description: "Makes an index of royal names."}, index)
}

func index(_ latchwork.Context, temple Temple) (Index, error) {
	if len(temple.Cartouches) == 0 {
		return Index{}, latchwork.Fail(latchwork.InvalidInput, "there are no cartouches")
	}
	byRuler := map[string][]Cartouche{}
	for i, one := range temple.Cartouches {
		ruler := strings.TrimSpace(one.Ruler)
		if ruler == "" {
			return Index{}, latchwork.Fail(latchwork.InvalidInput, "cartouche %d has no ruler", i+1)
		}
		byRuler[ruler] = append(byRuler[ruler], one)
	}

	// Each goroutine has a place of its own, so the order in which they run does not matter.
	rulers := slices.Sorted(maps.Keys(byRuler))
	entries := make([]Entry, len(rulers))
	var group sync.WaitGroup
	for i, ruler := range rulers {
		group.Add(1)
		go func() {
			defer group.Done()
			entries[i] = entryOf(ruler, byRuler[ruler])
		}()
	}
	group.Wait()

	// A sum of integers is the same in every order of the map.
	signs := 0
	for _, found := range byRuler {
		for _, one := range found {
			signs += len(strings.Fields(one.Text))
		}
	}
	most := slices.MaxFunc(entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Count, b.Count), cmp.Compare(b.Ruler, a.Ruler))
	})
	return Index{entries, signs, most.Ruler}, nil
}

func entryOf(ruler string, found []Cartouche) Entry {
	walls, variants := map[string]bool{}, map[string]bool{}
	for _, one := range found {
		walls[one.Wall] = true
		variants[strings.Join(strings.Fields(one.Text), " ")] = true
	}
	return Entry{ruler, len(found), slices.Sorted(maps.Keys(walls)), slices.Sorted(maps.Keys(variants))}
}

// main is empty: the host calls the operators.
func main() {}
