package main

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"

	"latchwork"
)

const most = 1000

type Trial struct {
	Seed         uint32   `json:"seed"`
	Arms         []string `json:"arms"`
	Participants []string `json:"participants"`
}

type Place struct {
	Participant string `json:"participant"`
	Arm         string `json:"arm"`
}

type Size struct {
	Arm   string `json:"arm"`
	Count int    `json:"count"`
}

type Allocation struct {
	Places []Place `json:"places"`
	Sizes  []Size  `json:"sizes"`
}

// hashes saves work for participants who are listed more than once.
var hashes = map[string]uint64{}

func init() {
	latchwork.Step("Trial.Allocate", latchwork.Spec{
		Description: "Allocates the participants of a trial to its arms in shuffled blocks.",
		Determinism: latchwork.Pure,
	}, allocate)
}

func allocate(_ latchwork.Context, trial Trial) (Allocation, error) {
	if len(trial.Arms) == 0 || len(trial.Arms) > 8 || len(trial.Participants) > most {
		return Allocation{}, latchwork.Fail(latchwork.InvalidInput, "a trial has 1 to 8 arms and at most %d participants", most)
	}
	for _, name := range append(slices.Clone(trial.Arms), trial.Participants...) {
		if name == "" || len(name) > 40 {
			return Allocation{}, latchwork.Fail(latchwork.InvalidInput, "a name has 1 to 40 bytes")
		}
		hashes[name] = hash(name)
	}
	// The order of the participants depends on their names, so that their place in the file has no influence.
	people := slices.Clone(trial.Participants)
	slices.SortStableFunc(people, func(a, b string) int {
		if hashes[a] != hashes[b] {
			if hashes[a] < hashes[b] {
				return -1
			}
			return 1
		}
		return slices.Compare([]byte(a), []byte(b))
	})

	places := make([]Place, len(people))
	var blocks sync.WaitGroup
	for start := 0; start < len(people); start += len(trial.Arms) {
		blocks.Add(1)
		go func() {
			defer blocks.Done()
			arms := slices.Clone(trial.Arms)
			source := rand.NewPCG(uint64(trial.Seed), uint64(start))
			for i := len(arms) - 1; i > 0; i-- {
				j := int(source.Uint64() % uint64(i+1))
				arms[i], arms[j] = arms[j], arms[i]
			}
			for i := start; i < min(start+len(arms), len(people)); i++ {
				places[i] = Place{people[i], arms[i-start]}
			}
		}()
	}
	blocks.Wait()

	counts := map[string]int{}
	for _, place := range places {
		counts[place.Arm]++
	}
	sizes := []Size{}
	for arm, count := range counts {
		sizes = append(sizes, Size{arm, count})
	}
	slices.SortFunc(sizes, func(a, b Size) int { return slices.Compare([]byte(a.Arm), []byte(b.Arm)) })
	return Allocation{places, sizes}, nil
}

func hash(name string) uint64 {
	if known, found := hashes[name]; found {
		return known
	}
	sum := fnv.New64a()
	sum.Write([]byte(name))
	return sum.Sum64()
}

func main() {}
