package main

import (
	"math"
	"math/rand"
	"sort"
	"sync"

	"latchwork"
)

type Recording struct {
	Station string   `json:"station"`
	Seed    int64    `json:"seed"`
	Songs   []string `json:"songs"`
}

type Share struct {
	Species string  `json:"species"`
	Songs   int     `json:"songs"`
	Share   float64 `json:"share"`
}

type Index struct {
	Station   string  `json:"station"`
	Diversity float64 `json:"diversity"`
	// Rarefied is the mean number of species in random samples of the recording.
	Rarefied float64 `json:"rarefied"`
	Species  []Share `json:"species"`
}

const (
	samples    = 16
	sampleSize = 20
)

func init() {
	latchwork.Step("Birdsong.Index", latchwork.Spec{
		Description: "Computes the diversity of the birds in a recording.",
	}, index)
}

// draw returns the number of species in one random sample. The seed comes from the input.
func draw(songs []string, seed int64) int {
	random := rand.New(rand.NewSource(seed))
	seen := map[string]bool{}
	for range sampleSize {
		seen[songs[random.Intn(len(songs))]] = true
	}
	return len(seen)
}

func index(_ latchwork.Context, recording Recording) (Index, error) {
	total := len(recording.Songs)
	if total == 0 {
		return Index{}, latchwork.Fail(latchwork.InvalidInput, "the recording of %s has no songs", recording.Station)
	}
	counts := map[string]int{}
	for _, species := range recording.Songs {
		counts[species]++
	}
	made := Index{Station: recording.Station, Species: make([]Share, 0, len(counts))}
	for species, songs := range counts {
		made.Species = append(made.Species, Share{species, songs, math.Round(float64(songs)/float64(total)*1000) / 1000})
	}
	// The order is total: no two entries have the same species.
	sort.Slice(made.Species, func(i, j int) bool {
		a, b := made.Species[i], made.Species[j]
		if a.Songs != b.Songs {
			return a.Songs > b.Songs
		}
		return a.Species < b.Species
	})
	// The sum follows the sorted list, because a sum of fractions depends on its order.
	for _, one := range made.Species {
		part := float64(one.Songs) / float64(total)
		made.Diversity -= part * math.Log(part)
	}
	made.Diversity = math.Round(made.Diversity*10000) / 10000

	// Each goroutine has a place of its own for its result.
	var found [samples]int
	var wait sync.WaitGroup
	for i := range samples {
		wait.Add(1)
		go func() {
			defer wait.Done()
			found[i] = draw(recording.Songs, recording.Seed+int64(i))
		}()
	}
	wait.Wait()
	for _, species := range found {
		made.Rarefied += float64(species) / samples
	}
	return made, nil
}

// main is empty: the host calls the operators.
func main() {}
