package main

import (
	"errors"
	"log/slog"
	"time"

	"latchwork"
)

type Round struct {
	Gauges []string `json:"gauges"`
}

type Reading struct {
	Gauge string  `json:"gauge"`
	Level float64 `json:"level"`
}

type Report struct {
	Readings []Reading `json:"readings"`
	Broken   []string  `json:"broken"`
	Calls    int       `json:"calls"`
}

func init() {
	latchwork.Step("Gauge.Round", latchwork.Spec{
		Description: "Reads the levels of several river gauges.",
		Determinism: latchwork.External,
	}, round)
}

func round(_ latchwork.Context, wanted Round) (Report, error) {
	report := Report{Readings: []Reading{}, Broken: []string{}}
	waiting := append([]string(nil), wanted.Gauges...)
	for len(waiting) > 0 {
		gauge := waiting[0]
		waiting = waiting[1:]
		report.Calls++
		reading, err := latchwork.Call[Reading]("Gauge.Read", map[string]string{"gauge": gauge})
		var failure *latchwork.Failure
		switch {
		case err == nil:
			report.Readings = append(report.Readings, Reading{Gauge: gauge, Level: reading.Level})
		case errors.As(err, &failure) && busy(failure.Code):
			// The gauge is asleep or on a slow link: take it again after the others.
			slog.Warn("gauge does not answer", "gauge", gauge, "code", string(failure.Code))
			waiting = append(waiting, gauge)
			time.Sleep(max(failure.RetryAfter, time.Second))
		default:
			report.Broken = append(report.Broken, gauge)
		}
	}
	return report, nil
}

func busy(code latchwork.Code) bool {
	switch code {
	case latchwork.NetworkTimeout, latchwork.RateLimit, latchwork.TemporaryProviderError,
		latchwork.TransientDBLock, latchwork.DependencyUnavailable:
		return true
	}
	return false
}

// main is empty: the host calls the operators.
func main() {}
