package main

import (
	"cmp"
	"slices"
	"strings"

	"latchwork"
)

type Reading struct {
	Yard  string `json:"yard"`
	Hive  int    `json:"hive"`
	Mites int    `json:"mites"`
}

type Census struct {
	Readings  []Reading `json:"readings"`
	Threshold int       `json:"threshold"`
}

type Yard struct {
	Name  string `json:"name"`
	Hives int    `json:"hives"`
	Mites int    `json:"mites"`
}

type Plan struct {
	Yards      []Yard `json:"yards"`
	TreatFirst string `json:"treat_first"`
	Urgent     bool   `json:"urgent"`
}

func init() {
	latchwork.Step("HiveCensus.Rank", latchwork.Spec{
		Description: "Sums the mite counts of each bee yard and names the yard to treat first.",
	}, rank)
}

func rank(_ latchwork.Context, census Census) (Plan, error) {
	if len(census.Readings) == 0 {
		return Plan{}, latchwork.Fail(latchwork.InvalidInput, "no readings")
	}
	yards := map[string]*Yard{}
	for i, reading := range census.Readings {
		name := strings.TrimSpace(reading.Yard)
		if name == "" || reading.Mites < 0 || reading.Mites > 100_000 {
			return Plan{}, latchwork.Fail(latchwork.InvalidInput, "reading %d is not usable", i+1)
		}
		yard, known := yards[name]
		if !known {
			yard = &Yard{Name: name}
			yards[name] = yard
		}
		yard.Hives++
		yard.Mites += reading.Mites
	}

	plan := Plan{Yards: []Yard{}}
	worst := -1
	for name, yard := range yards {
		if yard.Mites > worst {
			worst = yard.Mites
			plan.TreatFirst = name
		}
		plan.Yards = append(plan.Yards, *yard)
	}
	slices.SortFunc(plan.Yards, func(a, b Yard) int { return cmp.Compare(a.Name, b.Name) })
	plan.Urgent = worst > census.Threshold
	return plan, nil
}

// main is empty: the host calls the operators.
func main() {}
