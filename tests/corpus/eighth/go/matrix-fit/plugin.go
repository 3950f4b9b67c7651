package main

import (
	"log/slog"
	"time"

	"latchwork"
)

type Points struct {
	X []float64 `json:"x"`
	Y []float64 `json:"y"`
}

type Line struct {
	Slope     float64 `json:"slope"`
	Intercept float64 `json:"intercept"`
}

func init() {
	latchwork.Step("Line.Fit", latchwork.Spec{
		Description: "Fits a line through points by least squares.",
		Determinism: latchwork.Pure,
	}, fit)
}

// timed logs how long a part of the work took.
func timed(part string) func() {
	start := time.Now()
	return func() { slog.Debug("done", "part", part, "took", time.Since(start)) }
}

func fit(_ latchwork.Context, points Points) (Line, error) {
	n := float64(len(points.X))
	if len(points.X) != len(points.Y) || n < 2 {
		return Line{}, latchwork.Fail(latchwork.InvalidInput, "x and y need the same number of values, at least two")
	}
	defer timed("fit")()
	var sx, sy, sxx, sxy float64
	for i, x := range points.X {
		sx, sy, sxx, sxy = sx+x, sy+points.Y[i], sxx+x*x, sxy+x*points.Y[i]
	}
	width := n*sxx - sx*sx
	if width == 0 {
		return Line{}, latchwork.Fail(latchwork.InvalidInput, "all points have the same x")
	}
	slope := (n*sxy - sx*sy) / width
	return Line{slope, (sy - slope*sx) / n}, nil
}

func main() {}
