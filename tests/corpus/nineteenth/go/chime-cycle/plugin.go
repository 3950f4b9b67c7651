// Command chime-cycle computes when the wheels of a carillon stand as at the start again.
package main

import (
	"math"
	"slices"

	"latchwork"
)

// Wheel is one wheel of the carillon, which plays its tune once in the given number of beats.
type Wheel struct {
	Tune  string `json:"tune"`
	Beats int64  `json:"beats"`
}

type Carillon struct {
	Tower     string  `json:"tower"`
	PerMinute int64   `json:"beats_per_minute"`
	Wheels    []Wheel `json:"wheels"`
}

type Cycle struct {
	Tower string `json:"tower"`
	// Beats until all wheels stand as at the start.
	Beats int64 `json:"beats"`
	Days  int64 `json:"days"`
	// Rounds has the number of rounds of each tune in the cycle, the fastest wheel first.
	Rounds []Round `json:"rounds"`
}

type Round struct {
	Tune  string `json:"tune"`
	Count int64  `json:"count"`
}

func init() {
	latchwork.Step("Chime.Cycle", latchwork.Spec{
		Description: "Computes after how many beats all wheels of a carillon stand as at the start.",
		Determinism: latchwork.Pure,
	}, cycle)
}

func cycle(_ latchwork.Context, carillon Carillon) (Cycle, error) {
	if carillon.PerMinute < 1 || carillon.PerMinute > 600 {
		return Cycle{}, latchwork.Fail(latchwork.InvalidInput, "%s: 1 to 600 beats fit into a minute", carillon.Tower)
	}
	if len(carillon.Wheels) < 1 || len(carillon.Wheels) > 12 {
		return Cycle{}, latchwork.Fail(latchwork.InvalidInput, "%s: a carillon has 1 to 12 wheels", carillon.Tower)
	}
	beats := int64(1)
	for _, wheel := range carillon.Wheels {
		if wheel.Beats < 1 || wheel.Beats > 1000 {
			return Cycle{}, latchwork.Fail(latchwork.InvalidInput, "%s: a wheel has 1 to 1000 beats", wheel.Tune)
		}
		// The next common multiple has to fit into 64 bits.
		step := wheel.Beats / divisor(beats, wheel.Beats)
		if beats > math.MaxInt64/step {
			return Cycle{}, latchwork.Fail(latchwork.InvalidInput, "%s: the cycle is too long", carillon.Tower)
		}
		beats *= step
	}
	made := Cycle{Tower: carillon.Tower, Beats: beats, Days: beats / carillon.PerMinute / 60 / 24, Rounds: []Round{}}
	for _, wheel := range carillon.Wheels {
		made.Rounds = append(made.Rounds, Round{wheel.Tune, beats / wheel.Beats})
	}
	slices.SortStableFunc(made.Rounds, func(a, b Round) int {
		switch {
		case a.Count > b.Count:
			return -1
		case a.Count < b.Count:
			return 1
		}
		return 0
	})
	return made, nil
}

// divisor returns the greatest common divisor of two positive numbers.
func divisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// main is empty: the host calls the operators.
func main() {}
