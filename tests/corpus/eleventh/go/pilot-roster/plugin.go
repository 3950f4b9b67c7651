package main

import (
	"errors"
	"log/slog"
	"time"

	"latchwork"
)

type Query struct {
	Port string `json:"port"`
	Day  string `json:"day"`
}

type Roster struct {
	Pilots []string `json:"pilots"`
}

type Duty struct {
	Pilots  []string `json:"pilots"`
	Source  string   `json:"source"`
	Tries   int      `json:"tries"`
	AskedAt string   `json:"asked_at"`
}

func init() {
	latchwork.Step("Pilots.OnDuty", latchwork.Spec{
		Description: "Asks for the pilots on duty, from the mirror if the roster itself stays away.",
		Determinism: latchwork.External,
	}, onDuty)
}

const rounds, mostPilots, longestName = 3, 100, 200

func onDuty(_ latchwork.Context, query Query) (Duty, error) {
	if query.Port == "" {
		return Duty{}, latchwork.Fail(latchwork.InvalidInput, "the port has no name")
	}
	if _, err := time.Parse("2006-01-02", query.Day); err != nil {
		return Duty{}, latchwork.Fail(latchwork.InvalidInput, "%q is no day", query.Day)
	}
	asked := time.Now().UTC().Format(time.RFC3339)
	duty := Duty{Pilots: []string{}, Source: "roster", AskedAt: asked}
	var roster Roster
	var err error
	for duty.Tries < rounds {
		duty.Tries++
		roster, err = latchwork.Call[Roster]("Roster.Read", query)
		if err == nil || !passing(err) {
			break
		}
		slog.Warn("the roster does not answer", "port", query.Port, "try", duty.Tries)
		time.Sleep(time.Duration(duty.Tries) * 20 * time.Second)
	}
	if err != nil && passing(err) {
		duty.Source = "mirror"
		roster, err = latchwork.Call[Roster]("Mirror.Read", query)
	}
	if err != nil {
		return Duty{}, err
	}
	if len(roster.Pilots) > mostPilots {
		return Duty{}, latchwork.Fail(latchwork.SchemaValidationFailed, "the %s lists %d pilots", duty.Source, len(roster.Pilots))
	}
	for i, pilot := range roster.Pilots {
		if len(pilot) > longestName {
			return Duty{}, latchwork.Fail(latchwork.SchemaValidationFailed, "pilot %d of the %s has too long a name", i+1, duty.Source)
		}
		duty.Pilots = append(duty.Pilots, pilot)
	}
	return duty, nil
}

// passing reports whether the service may answer later.
func passing(err error) bool {
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

func main() {}
