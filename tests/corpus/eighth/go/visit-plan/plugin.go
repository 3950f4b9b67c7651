package main

import (
	"fmt"
	"math/rand"
	"time"

	"latchwork"
)

type Request struct {
	Sites []string `json:"sites"`
	Days  int      `json:"days"`
}

type Visit struct {
	ID   string `json:"id"`
	Site string `json:"site"`
	Date string `json:"date"`
}

type Plan struct {
	By     string  `json:"by"`
	Visits []Visit `json:"visits"`
}

// dates holds the texts of dates that were already formatted in this run.
var dates = map[time.Time]string{}

func init() {
	latchwork.Step("Visits.Plan", latchwork.Spec{
		Description: "Plans unannounced visits on random days from tomorrow.",
		Determinism: latchwork.Stable,
	}, plan)
}

func dateIn(start time.Time, days int) string {
	day := start.Truncate(24*time.Hour).AddDate(0, 0, days)
	if dates[day] == "" {
		dates[day] = day.Format(time.DateOnly)
	}
	return dates[day]
}

func plan(ctx latchwork.Context, request Request) (Plan, error) {
	if request.Days < 1 || request.Days > 365 {
		return Plan{}, latchwork.Fail(latchwork.InvalidInput, "days must be 1 to 365")
	}
	if len(request.Sites) > 500 {
		return Plan{}, latchwork.Fail(latchwork.InvalidInput, "at most 500 sites can be planned")
	}
	start := time.Now().UTC()
	made := Plan{By: ctx.Actor, Visits: []Visit{}}
	for i, at := range rand.Perm(len(request.Sites)) {
		days := 1 + rand.Intn(request.Days)
		made.Visits = append(made.Visits, Visit{latchwork.UUID(), request.Sites[at], dateIn(start, days)})
		time.Sleep(time.Millisecond)
		if err := latchwork.Emit("visit-planned", map[string]string{"number": fmt.Sprint(i + 1)}); err != nil {
			return Plan{}, err
		}
	}
	return made, nil
}

func main() {}
