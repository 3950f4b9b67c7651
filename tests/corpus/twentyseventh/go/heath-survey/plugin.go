// Package main estimates the cover of plants on a heath, with intervals by resampling. The resampling is seeded by the
// request, so that an estimate can be computed again.
package main

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"sort"
	"sync"

	"latchwork"
)

type Survey struct {
	Site    string               `json:"site"`
	Seed    uint64               `json:"seed,string"`
	Species map[string][]float64 `json:"species"`
}

type Estimate struct {
	Species string  `json:"species"`
	Plots   int     `json:"plots"`
	Mean    float64 `json:"mean"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
}

type Estimates struct {
	Site      string     `json:"site"`
	Estimates []Estimate `json:"estimates"`
	Dominant  string     `json:"dominant"`
}

const rounds = 200

// cache keeps the generators' starting values by species: surveys of many years name the same plants again and again.
var cache = map[string]uint64{}

func init() {
	latchwork.Step("Heath.Estimate", latchwork.Spec{
		Description: "Estimates the cover of each species.",
		Determinism: latchwork.Pure,
		Input: latchwork.Schema(`{"type": "object", "required": ["site", "seed", "species"], "properties": {
			"site": {"type": "string"}, "seed": {"type": "string", "pattern": "^[0-9]{1,18}$"},
			"species": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "number"}}}}}`),
	}, estimate)
}

func estimate(_ latchwork.Context, survey Survey) (Estimates, error) {
	names := make([]string, 0, len(survey.Species))
	for name := range survey.Species {
		names = append(names, name)
	}
	sort.Strings(names)
	if len(names) == 0 {
		return Estimates{}, latchwork.Fail(latchwork.InvalidInput, "site %s: no species", survey.Site)
	}
	for _, name := range names {
		if len(survey.Species[name]) == 0 {
			return Estimates{}, latchwork.Fail(latchwork.InvalidInput, "site %s: no plots for %s", survey.Site, name)
		}
		for _, cover := range survey.Species[name] {
			if cover < 0 || cover > 100 {
				return Estimates{}, latchwork.Fail(latchwork.InvalidInput, "site %s: %s covers %g percent", survey.Site, name, cover)
			}
		}
		cache[name] = start(name)
	}

	// Every species has a generator and a place of its own, so the order of the goroutines makes no difference.
	made := make([]Estimate, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Add(1)
		go func() {
			defer all.Done()
			made[i] = resampled(name, survey.Species[name], rand.New(rand.NewPCG(survey.Seed, cache[name])))
		}()
	}
	all.Wait()

	dominant := made[0]
	for _, one := range made[1:] {
		if one.Mean > dominant.Mean {
			dominant = one
		}
	}
	return Estimates{survey.Site, made, dominant.Species}, nil
}

func start(name string) uint64 {
	if known, ok := cache[name]; ok {
		return known
	}
	sum := fnv.New64a()
	sum.Write([]byte(name))
	return sum.Sum64()
}

// resampled is the mean of the plots, with the interval in which nine of ten resampled means lie.
func resampled(name string, plots []float64, draw *rand.Rand) Estimate {
	means := make([]float64, rounds)
	for i := range means {
		sum := 0.0
		for range plots {
			sum += plots[draw.IntN(len(plots))]
		}
		means[i] = sum / float64(len(plots))
	}
	sort.Float64s(means)
	sum := 0.0
	for _, cover := range plots {
		sum += cover
	}
	return Estimate{name, len(plots), hundredths(sum / float64(len(plots))), hundredths(means[rounds/20]), hundredths(means[rounds-rounds/20-1])}
}

func hundredths(x float64) float64 { return math.Round(x*100) / 100 }

// main is empty: the host calls the operators.
func main() {}
