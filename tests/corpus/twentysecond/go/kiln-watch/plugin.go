package main

import (
	"errors"
	"log/slog"
	"time"

	"latchwork"
)

// Firing names a firing of the studio's kiln.
type Firing struct {
	Kiln     string `json:"kiln"`
	Firing   string `json:"firing"`
	Peak     int    `json:"peak_celsius"`
	MaxHours int    `json:"max_hours"`
}

type Started struct {
	Run string `json:"run"`
}

type Status struct {
	State   string  `json:"state"`
	Celsius float64 `json:"celsius"`
}

type Result struct {
	Run     string  `json:"run"`
	Hottest float64 `json:"hottest_celsius"`
	Checks  int     `json:"checks"`
	Reached bool    `json:"reached"`
}

const pause = 10 * time.Minute

func init() {
	latchwork.Step("KilnFiring.Watch", latchwork.Spec{
		Description: "Starts a firing and watches it until the kiln is cold.",
		Determinism: latchwork.External,
		Effects:     []latchwork.Effect{latchwork.ExternalWrite},
		Input: latchwork.Schema(`{
  "type": "object", "additionalProperties": false, "required": ["kiln", "firing", "peak_celsius", "max_hours"],
  "properties": {
    "kiln": {"type": "string", "pattern": "^[a-z]{1,12}$"},
    "firing": {"type": "string", "pattern": "^20[0-9]{2}-[0-9]{1,4}$"},
    "peak_celsius": {"type": "integer", "minimum": 200, "maximum": 1400},
    "max_hours": {"type": "integer", "minimum": 1, "maximum": 48}}}`),
	}, watch)
}

func watch(_ latchwork.Context, firing Firing) (Result, error) {
	key := firing.Kiln + "/" + firing.Firing
	started, err := latchwork.Call[Started]("Kiln.Start", firing, key)
	if err != nil {
		return Result{}, err
	}
	result := Result{Run: started.Run}
	limit := firing.MaxHours * int(time.Hour/pause)
	for result.Checks < limit {
		status, err := latchwork.Call[Status]("Kiln.Status", started)
		var failure *latchwork.Failure
		if errors.As(err, &failure) && passing(failure.Code) {
			// The radio link to the kiln shed is often down while the gas burner runs.
			slog.Warn("no status", "run", started.Run, "code", failure.Code)
			time.Sleep(pause)
			continue
		}
		if err != nil {
			return Result{}, err
		}
		result.Checks++
		result.Hottest = max(result.Hottest, status.Celsius)
		switch status.State {
		case "cold":
			result.Reached = result.Hottest >= float64(firing.Peak)
			return result, nil
		case "fault":
			return Result{}, latchwork.Fail(latchwork.PolicyDenied, "run %s ended with a fault", started.Run)
		}
		time.Sleep(pause)
	}
	return Result{}, latchwork.Fail(latchwork.NetworkTimeout, "run %s was not cold after %d checks", started.Run, limit)
}

func passing(code latchwork.Code) bool {
	switch code {
	case latchwork.NetworkTimeout, latchwork.DependencyUnavailable, latchwork.TemporaryProviderError:
		return true
	}
	return false
}

func main() {}
