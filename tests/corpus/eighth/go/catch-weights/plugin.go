package main

import (
	"math"

	"latchwork"
)

type Haul struct {
	Species string  `json:"species"`
	Kilos   float64 `json:"kilos"`
}

type Log struct {
	Hauls []Haul `json:"hauls"`
}

type Summary struct {
	Species int     `json:"species"`
	Total   float64 `json:"total"`
	Spread  float64 `json:"spread"`
}

func init() {
	latchwork.Step("Catch.Summarize", latchwork.Spec{
		Description: "Summarizes the catch of a day by species.",
		Determinism: latchwork.Pure,
	}, summarize)
}

func summarize(_ latchwork.Context, log Log) (Summary, error) {
	if len(log.Hauls) == 0 {
		return Summary{}, latchwork.Fail(latchwork.InvalidInput, "the log has no hauls")
	}
	bySpecies := map[string]float64{}
	for _, haul := range log.Hauls {
		bySpecies[haul.Species] += haul.Kilos
	}
	total := 0.0
	for _, kilos := range bySpecies {
		total += kilos
	}
	mean, squares := total/float64(len(bySpecies)), 0.0
	for _, kilos := range bySpecies {
		squares += (kilos - mean) * (kilos - mean)
	}
	return Summary{len(bySpecies), total, math.Sqrt(squares / float64(len(bySpecies)))}, nil
}

func main() {}
