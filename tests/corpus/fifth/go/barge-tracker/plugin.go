// Reads the position of a barge. The service is down for minutes at times, so a failure that is worth another question
// is followed by a pause and the next question. Pauses take no time in a step.
package main

import (
	"errors"
	"log/slog"
	"time"

	"latchwork"
)

type Barge struct {
	Name string `json:"name"`
}

type Position struct {
	Kilometre float64 `json:"kilometre"`
	Lock      string  `json:"lock"`
}

func init() {
	latchwork.Step("Barge.Track", latchwork.Spec{
		Description: "Reads the position of a barge.",
		Determinism: latchwork.External,
	}, track)
}

func track(_ latchwork.Context, barge Barge) (Position, error) {
	if barge.Name == "" {
		return Position{}, latchwork.Fail(latchwork.InvalidInput, "the name is empty")
	}
	pause := time.Second
	for {
		position, err := latchwork.Call[Position]("Barge.Position", barge)
		if err == nil {
			return position, nil
		}
		if !temporary(err) {
			return Position{}, err
		}
		slog.Info("asking again", "barge", barge.Name, "pause", pause)
		time.Sleep(pause)
		pause = min(2*pause, 5*time.Minute)
	}
}

func temporary(err error) bool {
	var failure *latchwork.Failure
	if !errors.As(err, &failure) {
		return false
	}
	switch failure.Code {
	case latchwork.NetworkTimeout, latchwork.RateLimit, latchwork.TemporaryProviderError, latchwork.DependencyUnavailable:
		return true
	}
	return false
}

// main is empty: the host calls the operators.
func main() {}
