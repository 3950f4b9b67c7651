// Glacier-stakes computes the mass balance of a glacier from its ablation stakes, band by band of altitude, with the
// uncertainty of each band.
package main

import (
	"maps"
	"math"
	"math/rand"
	"slices"
	"sync"

	"latchwork"
)

const rounds = 200

type Stake struct {
	ID   string `json:"id"`
	Band int    `json:"band"`
	// Height above the ice in millimetres, in spring and in autumn.
	Spring  int     `json:"spring_mm"`
	Autumn  int     `json:"autumn_mm"`
	Density float64 `json:"density"`
}

type Season struct {
	Stakes []Stake `json:"stakes"`
	Seed   int64   `json:"seed"`
}

type Band struct {
	Band   int     `json:"band"`
	Stakes int     `json:"stakes"`
	Mean   float64 `json:"mean_mm"`
	Spread float64 `json:"spread_mm"`
}

type Balance struct {
	Bands []Band `json:"bands"`
	Lost  int    `json:"lost"`
}

func init() {
	latchwork.Step("Glacier.Balance", latchwork.Spec{
		Description: "Computes the mass balance of a glacier from its stakes.",
		Determinism: latchwork.Pure,
		Input: latchwork.Schema(`{"type":"object","properties":{
			"stakes":{"type":"array","minItems":1,"maxItems":300,"items":{"type":"object","properties":{
				"id":{"type":"string","minLength":1,"maxLength":20},
				"band":{"type":"integer","minimum":0,"maximum":8000},
				"spring_mm":{"type":"integer","minimum":0,"maximum":20000},
				"autumn_mm":{"type":"integer","minimum":-1,"maximum":20000},
				"density":{"type":"number","minimum":0.1,"maximum":1}},
				"required":["id","band","spring_mm","autumn_mm","density"],"additionalProperties":false}},
			"seed":{"type":"integer","minimum":1,"maximum":1000000}},
			"required":["stakes","seed"],"additionalProperties":false}`),
	}, balance)
}

// estimate draws the stakes of a band again and again. Each band has a generator of its own, which the seed of the input
// and the altitude fix.
func estimate(band int, changes []float64, seed int64) Band {
	draw := rand.New(rand.NewSource(seed*10000 + int64(band)))
	sum, squares, all := 0.0, 0.0, 0.0
	for _, change := range changes {
		all += change
	}
	for range rounds {
		mean := 0.0
		for range changes {
			mean += changes[draw.Intn(len(changes))]
		}
		mean /= float64(len(changes))
		sum += mean
		squares += mean * mean
	}
	variance := max(0, squares/rounds-sum/rounds*(sum/rounds))
	return Band{Band: band, Stakes: len(changes), Mean: round(all / float64(len(changes))), Spread: round(math.Sqrt(variance))}
}

func round(x float64) float64 { return math.Round(x*10) / 10 }

func balance(_ latchwork.Context, season Season) (Balance, error) {
	seen := make(map[string]bool)
	changes := make(map[int][]float64)
	lost := 0
	for _, stake := range season.Stakes {
		if seen[stake.ID] {
			return Balance{}, latchwork.Fail(latchwork.InvalidInput, "stake %q was read twice", stake.ID)
		}
		seen[stake.ID] = true
		if stake.Autumn < 0 { // The stake has melted out.
			lost++
			continue
		}
		changes[stake.Band] = append(changes[stake.Band], float64(stake.Spring-stake.Autumn)*stake.Density)
	}

	// The bands are computed side by side, and each goroutine writes to its own place.
	order := slices.Sorted(maps.Keys(changes))
	bands := make([]Band, len(order))
	var working sync.WaitGroup
	for i, band := range order {
		working.Add(1)
		go func() {
			defer working.Done()
			bands[i] = estimate(band, changes[band], season.Seed)
		}()
	}
	working.Wait()
	return Balance{Bands: bands, Lost: lost}, nil
}

func main() {}
