// Command truss-loads checks the members of a timber or steel truss against their permitted stress.
package main

import (
	"cmp"
	"math"
	"slices"

	"latchwork"
)

// permitted stress in N/mm² by grade.
var permitted = map[string]float64{"C24": 14, "C30": 18, "GL28": 19.5, "S235": 235, "S355": 355}

type Member struct {
	ForceKN float64 `json:"force_kn"`
	AreaCM2 float64 `json:"area_cm2"`
	Grade   string  `json:"grade"`
}

type Truss struct {
	Members      map[string]Member `json:"members"`
	SafetyFactor float64           `json:"safety_factor"`
}

type Line struct {
	Member      string  `json:"member"`
	Stress      float64 `json:"stress_n_mm2"`
	Utilization float64 `json:"utilization"`
	Tension     bool    `json:"tension"`
}

type Report struct {
	Lines  []Line `json:"lines"`
	Worst  string `json:"worst"`
	Passes bool   `json:"passes"`
}

func init() {
	latchwork.Step("Truss.Check", latchwork.Spec{
		Description: "Computes stress and utilization of each member of a truss.",
	}, check)
}

func check(_ latchwork.Context, truss Truss) (Report, error) {
	if truss.SafetyFactor < 1 || truss.SafetyFactor > 10 {
		return Report{}, latchwork.Fail(latchwork.InvalidInput, "the safety factor %g is not between 1 and 10", truss.SafetyFactor)
	}
	if len(truss.Members) == 0 {
		return Report{}, latchwork.Fail(latchwork.InvalidInput, "the truss has no members")
	}
	made := Report{Lines: []Line{}, Passes: true}
	for name, member := range truss.Members {
		line, err := stress(name, member, truss.SafetyFactor)
		if err != nil {
			return Report{}, err
		}
		made.Lines = append(made.Lines, line)
	}
	slices.SortFunc(made.Lines, func(a, b Line) int { return cmp.Compare(a.Member, b.Member) })
	most := -1.0
	for _, line := range made.Lines {
		if line.Utilization > most {
			most, made.Worst = line.Utilization, line.Member
		}
	}
	made.Passes = most <= 1
	return made, nil
}

func stress(name string, member Member, factor float64) (Line, error) {
	limit, known := permitted[member.Grade]
	if !known {
		return Line{}, latchwork.Fail(latchwork.InvalidInput, "member %q: unknown grade %q", name, member.Grade)
	}
	if member.AreaCM2 < 0.01 || member.AreaCM2 > 1e5 {
		return Line{}, latchwork.Fail(latchwork.InvalidInput, "member %q: area %g cm² is out of range", name, member.AreaCM2)
	}
	if math.Abs(member.ForceKN) > 1e6 {
		return Line{}, latchwork.Fail(latchwork.InvalidInput, "member %q: force %g kN is out of range", name, member.ForceKN)
	}
	value := math.Abs(member.ForceKN) * 1000 / (member.AreaCM2 * 100)
	return Line{
		Member:      name,
		Stress:      math.Round(value*100) / 100,
		Utilization: math.Round(value*factor/limit*1000) / 1000,
		Tension:     member.ForceKN > 0,
	}, nil
}

// main is empty: the host calls the operators.
func main() {}
