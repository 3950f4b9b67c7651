// Yields of an orchard by variety, computed from the picking slips. The varieties are computed side by side.
package main

import (
	"maps"
	"slices"
	"sync"
	"time"

	"latchwork"
)

type Slip struct {
	Variety string  `json:"variety"`
	Day     string  `json:"day"`
	Kg      float64 `json:"kg"`
}

type Orchard struct {
	Trees map[string]int `json:"trees"`
	Slips []Slip         `json:"slips"`
}

type Yield struct {
	Variety   string  `json:"variety"`
	Kg        float64 `json:"kg"`
	KgPerTree float64 `json:"kg_per_tree"`
	First     string  `json:"first"`
	Days      int     `json:"days"`
}

type Yields struct {
	Yields []Yield `json:"yields"`
}

// cache holds the parsed days of this run: most slips share a few days.
var (
	cache = map[string]time.Time{}
	guard sync.Mutex
)

func init() {
	latchwork.Step("Orchard.Yield", latchwork.Spec{
		Description: "Computes the yield of each variety of an orchard.",
		Determinism: latchwork.Pure,
	}, yields)
}

func parsed(day string) (time.Time, error) {
	guard.Lock()
	defer guard.Unlock()
	if known, ok := cache[day]; ok {
		return known, nil
	}
	at, err := time.Parse(time.DateOnly, day)
	if err == nil {
		cache[day] = at
	}
	return at, err
}

// yieldOf adds the slips in their order in the input, so the rounding of the sum is always the same.
func yieldOf(variety string, trees int, slips []Slip) (Yield, error) {
	made := Yield{Variety: variety}
	days := map[time.Time]bool{}
	var first time.Time
	for _, slip := range slips {
		at, err := parsed(slip.Day)
		if err != nil {
			return Yield{}, latchwork.Fail(latchwork.InvalidInput, "%s: %q is no day", variety, slip.Day)
		}
		if len(days) == 0 || at.Before(first) {
			first = at
		}
		days[at] = true
		made.Kg += slip.Kg
	}
	made.First = first.Format(time.DateOnly)
	made.Days = len(days)
	made.KgPerTree = made.Kg / float64(trees)
	return made, nil
}

func yields(_ latchwork.Context, orchard Orchard) (Yields, error) {
	slips := map[string][]Slip{}
	for i, slip := range orchard.Slips {
		if orchard.Trees[slip.Variety] < 1 {
			return Yields{}, latchwork.Fail(latchwork.InvalidInput, "slip %d: the orchard has no trees of %q", i+1, slip.Variety)
		}
		slips[slip.Variety] = append(slips[slip.Variety], slip)
	}
	varieties := slices.Sorted(maps.Keys(slips))
	made, failures := make([]Yield, len(varieties)), make([]error, len(varieties))
	var all sync.WaitGroup
	for i, variety := range varieties {
		all.Add(1)
		go func() {
			defer all.Done()
			made[i], failures[i] = yieldOf(variety, orchard.Trees[variety], slips[variety])
		}()
	}
	all.Wait()
	// The failure of the first variety by name, whichever goroutine ended first.
	for _, err := range failures {
		if err != nil {
			return Yields{}, err
		}
	}
	return Yields{made}, nil
}

func main() {}
