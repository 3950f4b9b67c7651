package main

import (
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"latchwork"
)

const tries = 3

type Resort struct {
	Stations []string `json:"stations"`
}

type station struct {
	Station string `json:"station"`
}

type depth struct {
	Centimetres int `json:"centimetres"`
}

type Measured struct {
	Station     string `json:"station"`
	Centimetres int    `json:"centimetres"`
}

type Report struct {
	Measured []Measured `json:"measured"`
	Missing  []string   `json:"missing"`
	At       time.Time  `json:"at"`
}

func init() {
	latchwork.Step("Snow.Report", latchwork.Spec{
		Description: "Collects the snow depths of the stations of a resort.",
		Determinism: latchwork.External,
	}, report)
}

func report(ctx latchwork.Context, resort Resort) (Report, error) {
	if len(resort.Stations) == 0 || len(resort.Stations) > 40 {
		return Report{}, latchwork.Fail(latchwork.InvalidInput, "a report has 1 to 40 stations")
	}
	depths := map[string]int{}
	made := Report{Measured: []Measured{}, Missing: []string{}}
	for _, name := range resort.Stations {
		found, err := measure(name)
		var failure *latchwork.Failure
		switch {
		case err == nil && found.Centimetres >= 0 && found.Centimetres < 2000:
			depths[name] = found.Centimetres
		case err == nil:
			slog.Warn("implausible", "station", name, "centimetres", found.Centimetres)
			made.Missing = append(made.Missing, name)
		case errors.As(err, &failure):
			slog.Warn("no depth", "station", name, "code", failure.Code, "job", ctx.JobID)
			made.Missing = append(made.Missing, name)
		default:
			return Report{}, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(depths)) {
		made.Measured = append(made.Measured, Measured{name, depths[name]})
	}
	made.At = time.Now().UTC()
	return made, nil
}

// measure asks a station. A station that sleeps is asked again, with a pause.
func measure(name string) (found depth, err error) {
	for try := range tries {
		if try > 0 {
			time.Sleep(20 * time.Second)
		}
		found, err = latchwork.Call[depth]("Station.Depth", station{name})
		var failure *latchwork.Failure
		if err == nil || !errors.As(err, &failure) || failure.Code != latchwork.DependencyUnavailable {
			return found, err
		}
	}
	return found, err
}

func main() {}
