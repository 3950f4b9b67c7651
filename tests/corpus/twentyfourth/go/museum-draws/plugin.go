package main

import (
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"latchwork"
)

type Raffle struct {
	Visitors []string `json:"visitors"`
	Prizes   int      `json:"prizes"`
}

type Drawn struct {
	Draw    string   `json:"draw"`
	Season  string   `json:"season"`
	DrawnOn string   `json:"drawn_on"`
	Winners []string `json:"winners"`
	Waiting []string `json:"waiting"`
}

func init() {
	latchwork.Step("Museum.Draw", latchwork.Spec{
		Description: "Draws the winners of a museum raffle among its visitors.",
		Input: latchwork.Schema(`{"type":"object","required":["visitors","prizes"],"additionalProperties":false,"properties":{
			"visitors":{"type":"array","maxItems":2000,"items":{"type":"string","minLength":1,"maxLength":80}},
			"prizes":{"type":"integer","minimum":0,"maximum":2000}}}`),
		Output: latchwork.Schema(`{"type":"object","required":["draw","season","drawn_on","winners","waiting"],"additionalProperties":false,"properties":{
			"draw":{"type":"string","pattern":"^[0-9a-f-]{36}$"},
			"season":{"enum":["winter","spring","summer","autumn"]},
			"drawn_on":{"type":"string","pattern":"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
			"winners":{"type":"array","items":{"type":"string"}},
			"waiting":{"type":"array","items":{"type":"string"}}}}`),
		// Each job draws other winners, and names its own day.
		Determinism: latchwork.Stable,
	}, draw)
}

func season(month time.Month) string {
	switch month {
	case time.March, time.April, time.May:
		return "spring"
	case time.June, time.July, time.August:
		return "summer"
	case time.September, time.October, time.November:
		return "autumn"
	}
	return "winter"
}

func draw(ctx latchwork.Context, raffle Raffle) (Drawn, error) {
	now := time.Now().UTC()
	seen := map[string]bool{}
	for _, visitor := range raffle.Visitors {
		seen[visitor] = true
	}
	if len(seen) < raffle.Prizes {
		return Drawn{}, latchwork.Fail(latchwork.InvalidInput, "%d visitors for %d prizes on %s", len(seen), raffle.Prizes, now.Format(time.DateOnly))
	}
	// Each visitor takes part once, whatever the number of tickets.
	names := []string{}
	for name := range seen {
		names = append(names, name)
	}
	slices.Sort(names)
	rand.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
	drawn := Drawn{
		Draw: latchwork.UUID(), Season: season(now.Month()), DrawnOn: now.Format(time.DateOnly),
		Winners: names[:raffle.Prizes:raffle.Prizes], Waiting: names[raffle.Prizes:],
	}
	slog.Info("drawn", "by", ctx.Actor, "winners", len(drawn.Winners))
	return drawn, nil
}

func main() {}
