package main

import (
	"slices"
	"strings"

	"latchwork"
)

type Shift struct {
	Day   string `json:"day"`
	Skill string `json:"skill"`
	// Worker is empty if the shift is open.
	Worker string `json:"worker,omitempty"`
}

type Worker struct {
	Name   string   `json:"name"`
	Skills []string `json:"skills"`
}

type Week struct {
	Shifts  []Shift  `json:"shifts"`
	Workers []Worker `json:"workers"`
}

type Gap struct {
	Day        string   `json:"day"`
	Skill      string   `json:"skill"`
	Candidates []string `json:"candidates"`
}

type Report struct {
	Gaps    []Gap `json:"gaps"`
	Covered int   `json:"covered"`
}

func init() {
	latchwork.Step("Roster.Gaps", latchwork.Spec{
		Description: "Lists the open shifts of a week, with the workers who could take them.",
		Input: latchwork.Schema(`{"type":"object","properties":{` +
			`"shifts":{"type":"array","maxItems":300,"items":{"type":"object","properties":{` +
			`"day":{"type":"string","pattern":"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},` +
			`"skill":{"type":"string","maxLength":40},"worker":{"type":"string","maxLength":80}},` +
			`"required":["day","skill"],"additionalProperties":false}},` +
			`"workers":{"type":"array","maxItems":100,"items":{"type":"object","properties":{` +
			`"name":{"type":"string","maxLength":80},"skills":{"type":"array","items":{"type":"string"}}},` +
			`"required":["name","skills"],"additionalProperties":false}}},` +
			`"required":["shifts","workers"],"additionalProperties":false}`),
		Output: latchwork.Schema(`{"type":"object","properties":{` +
			`"gaps":{"type":"array","items":{"type":"object","properties":{"day":{"type":"string"},` +
			`"skill":{"type":"string"},"candidates":{"type":"array","items":{"type":"string"}}},` +
			`"required":["day","skill","candidates"]}},"covered":{"type":"integer"}},` +
			`"required":["gaps","covered"]}`),
	}, gaps)
}

func gaps(_ latchwork.Context, week Week) (Report, error) {
	type place struct{ day, worker string }
	busy := map[place]bool{}
	for _, shift := range week.Shifts {
		if shift.Worker == "" {
			continue
		}
		at := place{shift.Day, shift.Worker}
		if busy[at] {
			return Report{}, latchwork.Fail(latchwork.InvalidInput, "%s has two shifts on %s", shift.Worker, shift.Day)
		}
		busy[at] = true
	}
	report := Report{Gaps: []Gap{}, Covered: len(busy)}
	for _, shift := range week.Shifts {
		if shift.Worker != "" {
			continue
		}
		gap := Gap{Day: shift.Day, Skill: shift.Skill}
		for _, worker := range week.Workers {
			if slices.Contains(worker.Skills, shift.Skill) && !busy[place{shift.Day, worker.Name}] {
				gap.Candidates = append(gap.Candidates, worker.Name)
			}
		}
		slices.Sort(gap.Candidates)
		report.Gaps = append(report.Gaps, gap)
	}
	slices.SortStableFunc(report.Gaps, func(a, b Gap) int { return strings.Compare(a.Day, b.Day) })
	return report, nil
}

// main is empty: the host calls the operators.
func main() {}
