// Asks probes in random order until one answers, with a pause between two of them. The number of calls has a bound, and
// the step is declared as external.
package main

import (
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"latchwork"
)

type Probes struct {
	Probes []string `json:"probes"`
}

type Answered struct {
	Probe string    `json:"probe"`
	Value float64   `json:"value"`
	Asked int       `json:"asked"`
	At    time.Time `json:"at"`
}

type value struct {
	Value float64 `json:"value"`
}

func init() {
	latchwork.Step("Probe.Ask", latchwork.Spec{
		Description: "Returns the value of the first probe that answers.",
		Determinism: latchwork.External,
	}, ask)
}

func ask(ctx latchwork.Context, probes Probes) (Answered, error) {
	if len(probes.Probes) == 0 || len(probes.Probes) > 8 {
		return Answered{}, latchwork.Fail(latchwork.InvalidInput, "1 to 8 probes, please")
	}
	var last error
	for asked, at := range rand.Perm(len(probes.Probes)) {
		select {
		case <-time.After(time.Duration(100+rand.IntN(400)) * time.Millisecond):
		case <-ctx.Done():
			return Answered{}, ctx.Err()
		}
		probe := probes.Probes[at]
		found, err := latchwork.Call[value]("Probe.Read", map[string]string{"probe": probe})
		if err == nil {
			return Answered{probe, found.Value, asked + 1, time.Now().UTC()}, nil
		}
		slog.Warn("no value", "probe", probe, "job", ctx.JobID, "error", err)
		last = err
		var failure *latchwork.Failure
		if errors.As(err, &failure) && failure.Code == latchwork.AuthForbidden {
			break
		}
	}
	return Answered{}, last
}

// main is empty: the host calls the operators.
func main() {}
