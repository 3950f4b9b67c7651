// Relay-legs puts the runners of a relay on its legs.
package main

import (
	"cmp"
	"slices"

	"latchwork"
)

type Leg struct {
	Name   string `json:"name"`
	Metres int    `json:"metres"`
	Climb  int    `json:"climb"`
}

type Runner struct {
	Name string `json:"name"`
	// Pace in seconds for a kilometre on the flat.
	Pace    int  `json:"pace"`
	Climber bool `json:"climber"`
}

type Team struct {
	Team    string   `json:"team"`
	Legs    []*Leg   `json:"legs"`
	Runners []Runner `json:"runners"`
}

type Place struct {
	Leg     string `json:"leg"`
	Runner  string `json:"runner"`
	Seconds int    `json:"seconds"`
}

type Order struct {
	Team    string  `json:"team"`
	Places  []Place `json:"places"`
	Seconds int     `json:"seconds"`
}

func init() {
	latchwork.Step("Relay.Order", latchwork.Spec{
		Description: "Puts the runners of a team on the legs of a relay.",
		Input: latchwork.Schema(`{"type":"object","properties":{
			"team":{"type":"string","minLength":1,"maxLength":60},
			"legs":{"type":"array","minItems":1,"maxItems":40,"items":{"type":"object","properties":{
				"name":{"type":"string","maxLength":60},"metres":{"type":"integer","minimum":1,"maximum":100000},
				"climb":{"type":"integer","minimum":0,"maximum":5000}},
				"required":["name","metres","climb"],"additionalProperties":false}},
			"runners":{"type":"array","maxItems":60,"items":{"type":"object","properties":{
				"name":{"type":"string","maxLength":60},"pace":{"type":"integer","minimum":120,"maximum":1200},
				"climber":{"type":"boolean"}},"required":["name","pace","climber"],"additionalProperties":false}}},
			"required":["team","legs","runners"],"additionalProperties":false}`),
	}, order)
}

// seconds adds ten seconds for every ten metres of climb.
func seconds(leg *Leg, runner Runner) int { return runner.Pace*leg.Metres/1000 + leg.Climb }

func order(_ latchwork.Context, team Team) (Order, error) {
	free := slices.Clone(team.Runners)
	slices.SortStableFunc(free, func(a, b Runner) int { return cmp.Compare(a.Pace, b.Pace) })

	// The steepest legs choose first, because few runners can take them.
	steep := slices.Clone(team.Legs)
	slices.SortStableFunc(steep, func(a, b *Leg) int { return cmp.Compare(b.Climb, a.Climb) })

	taken := make(map[*Leg]Runner, len(steep))
	var open []*Leg
	for _, leg := range steep {
		at := slices.IndexFunc(free, func(r Runner) bool { return leg.Climb < 300 || r.Climber })
		if at < 0 {
			open = append(open, leg)
			continue
		}
		taken[leg] = free[at]
		free = slices.Delete(free, at, at+1)
	}
	if len(open) > 0 {
		return Order{}, latchwork.Fail(latchwork.InvalidInput, "team %s has nobody for %d of %d legs: %v", team.Team, len(open), len(team.Legs), open)
	}

	made := Order{Team: team.Team, Places: make([]Place, 0, len(team.Legs))}
	for _, leg := range team.Legs {
		place := Place{Leg: leg.Name, Runner: taken[leg].Name, Seconds: seconds(leg, taken[leg])}
		made.Places = append(made.Places, place)
		made.Seconds += place.Seconds
	}
	return made, nil
}

func main() {}
