// Finds the gasket that fits a flange best. The catalogue is in the code; the workshop can add its own sizes in the
// configuration of the plugin.
package main

import (
	"math"

	"latchwork"
)

type Flange struct {
	InnerMm float64 `json:"inner_mm"`
	OuterMm float64 `json:"outer_mm"`
}

type Size struct {
	InnerMm float64 `json:"inner_mm"`
	OuterMm float64 `json:"outer_mm"`
}

type Fit struct {
	Gasket string  `json:"gasket"`
	GapMm  float64 `json:"gap_mm"`
}

var catalogue = map[string]Size{
	"G15": {22, 51}, "G20": {27, 61}, "G25": {34, 71}, "G32": {43, 82}, "G40": {49, 92},
	"G50": {61, 107}, "G65": {77, 127}, "G80": {89, 142}, "G100": {115, 162},
}

func init() {
	latchwork.Tool("Gasket.Fit", latchwork.Spec{
		Description: "Finds the gasket that fits a flange best.",
		Effects:     []latchwork.Effect{latchwork.ReadOnly},
		Determinism: latchwork.Pure,
	}, fit)
}

// sizes returns the catalogue with the workshop's own sizes, which take precedence.
func sizes() (map[string]Size, error) {
	all := make(map[string]Size, len(catalogue))
	for name, size := range catalogue {
		all[name] = size
	}
	var own map[string]Size
	if _, err := latchwork.Config("own_sizes", &own); err != nil {
		return nil, err
	}
	for name, size := range own {
		all[name] = size
	}
	return all, nil
}

// gap is the free width on both sides. A gasket never covers the bore and never stands out.
func gap(size Size, flange Flange) (float64, bool) {
	if size.InnerMm < flange.InnerMm || size.OuterMm > flange.OuterMm || size.InnerMm >= size.OuterMm {
		return 0, false
	}
	return math.Round(100*(size.InnerMm-flange.InnerMm+flange.OuterMm-size.OuterMm)) / 100, true
}

func fit(_ *latchwork.Invocation, flange Flange) (Fit, error) {
	if flange.InnerMm <= 0 || flange.OuterMm <= flange.InnerMm {
		return Fit{}, latchwork.Fail(latchwork.InvalidInput, "a flange of %g to %g mm", flange.InnerMm, flange.OuterMm)
	}
	all, err := sizes()
	if err != nil {
		return Fit{}, err
	}
	// Any order will do: the smallest gap wins, and of equal gaps the first name.
	best := Fit{}
	for name, size := range all {
		free, fits := gap(size, flange)
		if !fits {
			continue
		}
		if best.Gasket == "" || free < best.GapMm || free == best.GapMm && name < best.Gasket {
			best = Fit{name, free}
		}
	}
	if best.Gasket == "" {
		return Fit{}, latchwork.Fail(latchwork.MissingRequiredContext, "no gasket fits %g to %g mm", flange.InnerMm, flange.OuterMm)
	}
	return best, nil
}

func main() {}
