package main

import (
	"errors"
	"log/slog"
	"time"

	"latchwork"
)

type Arrival struct {
	Ship   string `json:"ship"`
	Draft  int    `json:"draft_dm"`
	Ladder string `json:"ladder"`
}

type Reserved struct {
	Pilot  string `json:"pilot"`
	Boards string `json:"boards"`
}

type Boarding struct {
	Ship   string `json:"ship"`
	Pilot  string `json:"pilot"`
	Boards string `json:"boards"`
}

func init() {
	latchwork.Step("Boarding.Arrange", latchwork.Spec{
		Description: "Arranges a harbour pilot for an arriving ship.",
		Determinism: latchwork.External,
	}, arrange)
}

func arrange(_ latchwork.Context, arrival Arrival) (Boarding, error) {
	if arrival.Draft <= 0 {
		return Boarding{}, latchwork.Fail(latchwork.InvalidInput, "%s has no draft", arrival.Ship)
	}
	for {
		reserved, err := latchwork.Call[Reserved]("Pilots.Reserve", arrival)
		if err == nil {
			return Boarding{arrival.Ship, reserved.Pilot, reserved.Boards}, nil
		}
		var failure *latchwork.Failure
		if !errors.As(err, &failure) {
			return Boarding{}, err
		}
		switch failure.Code {
		case latchwork.DependencyUnavailable, latchwork.NetworkTimeout, latchwork.RateLimit:
			// The roster of the pilots is offline at each change of watch.
			slog.Warn("no pilot yet", "ship", arrival.Ship, "reason", failure.Message)
			time.Sleep(5 * time.Minute)
		default:
			return Boarding{}, err
		}
	}
}

func main() {}
