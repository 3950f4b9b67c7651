// Command flume-smoothing smooths the water levels that a gauge in a flume has measured.
package main

import (
	"log/slog"
	"math"
	"slices"

	"latchwork"
)

type Series struct {
	Flume string `json:"flume"`
	// Window is the number of neighbors on each side that smooth a level.
	Window int       `json:"window"`
	Levels []float64 `json:"levels"`
}

type Smoothed struct {
	Flume  string    `json:"flume"`
	Levels []float64 `json:"levels"`
	// Spikes counts the levels that were replaced because they were far from their neighbors.
	Spikes int `json:"spikes"`
}

// spike is the distance in centimeters from which a level counts as an error of the gauge.
const spike = 40.0

func init() {
	latchwork.Step("Flume.Smooth", latchwork.Spec{
		Description: "Smooths the water levels of a flume.",
		Determinism: latchwork.Pure,
	}, smooth)
}

func smooth(_ latchwork.Context, series Series) (Smoothed, error) {
	if series.Window < 1 || series.Window > 12 {
		return Smoothed{}, latchwork.Fail(latchwork.InvalidInput, "%s: a window has 1 to 12 neighbors", series.Flume)
	}
	if len(series.Levels) < 2*series.Window+1 {
		return Smoothed{}, latchwork.Fail(latchwork.InvalidInput, "%s: the series is shorter than a window", series.Flume)
	}
	if len(series.Levels) > 50_000 {
		return Smoothed{}, latchwork.Fail(latchwork.InvalidInput, "%s: a series has at most 50000 levels", series.Flume)
	}
	made := Smoothed{Flume: series.Flume, Levels: make([]float64, len(series.Levels))}
	for i, level := range series.Levels {
		around := neighbors(series, i)
		middle := median(around)
		if math.Abs(level-middle) >= spike {
			slog.Warn("spike replaced", "flume", series.Flume, "place", i, "level", level)
			made.Spikes++
			level = middle
		}
		made.Levels[i] = math.Round(10*(level+mean(around))/2) / 10
		slog.Debug("smoothed", "place", i, "level", made.Levels[i])
	}
	return made, nil
}

// neighbors returns a copy of the levels around a place.
func neighbors(series Series, place int) []float64 {
	first := max(0, place-series.Window)
	last := min(len(series.Levels), place+series.Window+1)
	return slices.Clone(series.Levels[first:last])
}

func median(levels []float64) float64 {
	slices.Sort(levels)
	half := len(levels) / 2
	if len(levels)%2 == 1 {
		return levels[half]
	}
	return (levels[half-1] + levels[half]) / 2
}

func mean(levels []float64) float64 {
	sum := 0.0
	for _, level := range levels {
		sum += level
	}
	return sum / float64(len(levels))
}

// main is empty: the host calls the operators.
func main() {}
