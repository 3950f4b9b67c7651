package main

import (
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"latchwork"
)

type Query struct {
	Designation string   `json:"designation"`
	Mirrors     []string `json:"mirrors"`
}

type Elements struct {
	Perihelion   float64 `json:"perihelion_au"`
	Eccentricity float64 `json:"eccentricity"`
}

type Found struct {
	Designation string    `json:"designation"`
	Mirror      string    `json:"mirror"`
	Elements    Elements  `json:"elements"`
	Periodic    bool      `json:"periodic"`
	Tried       int       `json:"tried"`
	LookedUpAt  time.Time `json:"looked_up_at"`
}

const rounds = 2

func init() {
	latchwork.Step("Comet.Lookup", latchwork.Spec{
		Description: "Looks up the orbit of a comet at one of several mirrors of a catalog.",
		// External and not stable: the catalog changes.
		Determinism: latchwork.External,
	}, lookup)
}

func lookup(ctx latchwork.Context, query Query) (Found, error) {
	if query.Designation == "" || len(query.Mirrors) == 0 {
		return Found{}, latchwork.Fail(latchwork.InvalidInput, "a designation and at least one mirror are needed")
	}
	if len(query.Mirrors) > 10 {
		return Found{}, latchwork.Fail(latchwork.InvalidInput, "at most 10 mirrors are asked")
	}
	// Jobs spread over the mirrors. A job asks in the same order again after a crash.
	order := slices.Clone(query.Mirrors)
	rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })

	tried := 0
	var last *latchwork.Failure
	for round := range rounds {
		if round > 0 {
			time.Sleep(time.Minute) // takes no time in a step
		}
		for _, mirror := range order {
			tried++
			elements, err := latchwork.Call[Elements]("Catalog.Elements", map[string]string{"mirror": mirror, "designation": query.Designation})
			if err == nil {
				slog.Info("found", "mirror", mirror, "job", ctx.JobID)
				return Found{query.Designation, mirror, elements, elements.Eccentricity < 1, tried, time.Now().UTC()}, nil
			}
			if !errors.As(err, &last) {
				return Found{}, err
			}
			if last.Code == latchwork.InvalidInput {
				return Found{}, latchwork.Fail(latchwork.InvalidInput, "no mirror knows %s: %w", query.Designation, err)
			}
			slog.Warn("mirror failed", "mirror", mirror, "code", string(last.Code))
		}
	}
	return Found{}, latchwork.Fail(latchwork.DependencyUnavailable, "%d tries failed, the last one with %s", tried, last.Code)
}

// main is empty: the host calls the operators.
func main() {}
