package main

import (
	"sort"

	"latchwork"
)

type Sighting struct {
	Minute int    `json:"minute"`
	Vessel string `json:"vessel"`
}

type Watches struct {
	North []Sighting `json:"north"`
	South []Sighting `json:"south"`
}

type Entry struct {
	Number int    `json:"number"`
	Minute int    `json:"minute"`
	Vessel string `json:"vessel"`
	Post   string `json:"post"`
}

type Convoy struct {
	Entries []Entry `json:"entries"`
}

func init() {
	latchwork.Step("Convoy.Merge", latchwork.Spec{
		Description: "Merges the sightings of the two watch posts into one numbered list.",
		Determinism: latchwork.Pure,
	}, merge)
}

// feed sends the sightings of a post that are plausible.
func feed(post string, sightings []Sighting) <-chan Entry {
	out := make(chan Entry, len(sightings))
	go func() {
		defer close(out)
		for _, sighting := range sightings {
			if sighting.Minute < 0 || sighting.Vessel == "" {
				continue
			}
			out <- Entry{Minute: sighting.Minute, Vessel: sighting.Vessel, Post: post}
		}
	}()
	return out
}

func merge(_ latchwork.Context, watches Watches) (Convoy, error) {
	if len(watches.North)+len(watches.South) == 0 {
		return Convoy{}, latchwork.Fail(latchwork.InvalidInput, "neither post has a sighting")
	}
	north, south := feed("north", watches.North), feed("south", watches.South)
	entries := []Entry{}
	for north != nil || south != nil {
		select {
		case entry, open := <-north:
			if !open {
				north = nil
				continue
			}
			entries = append(entries, entry)
		case entry, open := <-south:
			if !open {
				south = nil
				continue
			}
			entries = append(entries, entry)
		}
	}
	sort.SliceStable(entries, func(i, k int) bool { return entries[i].Minute < entries[k].Minute })
	for i := range entries {
		entries[i].Number = i + 1
	}
	return Convoy{entries}, nil
}

func main() {}
