// Command insulation-quote computes the price of insulating a roof.
package main

import (
	"math"
	"strings"

	"latchwork"
)

type Roof struct {
	Width  float64 `json:"width_m"`
	Length float64 `json:"length_m"`
	Pitch  float64 `json:"pitch_degrees"`
}

type Input struct {
	Material string  `json:"material"`
	Target   float64 `json:"target_u"`
	Roof     Roof    `json:"roof"`
}

type Quote struct {
	Material  string `json:"material"`
	Thickness int    `json:"thickness_mm"`
	Rolls     int    `json:"rolls"`
	Cents     int    `json:"cents"`
}

// Material is an insulating material as the trade sells it.
type Material struct {
	conductivity float64
	rollArea     float64
	centsPerRoll int
	thicknesses  []int
}

var materials = map[string]Material{
	"glass wool":  {0.035, 6.0, 3890, []int{100, 140, 160, 180, 200, 240}},
	"wood fibre":  {0.038, 3.3, 4720, []int{80, 100, 120, 160, 200}},
	"sheep wool":  {0.040, 4.8, 8150, []int{60, 100, 120, 140}},
	"hemp":        {0.041, 4.2, 6100, []int{80, 100, 140, 160, 180}},
	"cellulose":   {0.039, 5.1, 3270, []int{100, 140, 180, 220}},
	"stone wool":  {0.034, 5.6, 4440, []int{120, 140, 160, 180, 200, 220}},
	"cork boards": {0.042, 2.9, 7680, []int{40, 60, 80, 100, 120}},
}

func init() {
	latchwork.Step("Insulation.Quote", latchwork.Spec{
		Description: "Computes the price of insulating a roof.",
	}, quote)
}

// area returns the area of a roof with two equal sides.
func area(roof Roof) float64 {
	return roof.Width * roof.Length / math.Cos(roof.Pitch*math.Pi/180)
}

func quote(ctx latchwork.Context, in Input) (Quote, error) {
	name := strings.ToLower(strings.TrimSpace(in.Material))
	material, known := materials[name]
	if !known {
		return Quote{}, latchwork.Fail(latchwork.InvalidInput, "the trade has no %q", in.Material)
	}
	roof := in.Roof
	if roof.Width < 1 || roof.Width > 100 || roof.Length < 1 || roof.Length > 100 || roof.Pitch < 0 || roof.Pitch > 70 {
		return Quote{}, latchwork.Fail(latchwork.InvalidInput, "the sizes of the roof cannot be right")
	}
	if in.Target < 0.1 || in.Target > 1 {
		return Quote{}, latchwork.Fail(latchwork.InvalidInput, "the target is not between 0.1 and 1 W/m²K")
	}
	wanted := material.conductivity / in.Target * 1000
	for _, thickness := range material.thicknesses {
		if float64(thickness) >= wanted {
			rolls := int(math.Ceil(area(roof) * 1.05 / material.rollArea))
			cents := rolls * material.centsPerRoll * thickness / material.thicknesses[0]
			return Quote{name, thickness, rolls, cents}, nil
		}
	}
	// The installer finds the request again by the number in the message.
	return Quote{}, latchwork.Fail(latchwork.PolicyDenied,
		"%s is not made in %.0f mm; ask an installer and give the number %s", name, math.Ceil(wanted), ctx.JobID)
}

// main is empty: the host calls the operators.
func main() {}
