// Buoy-salinity reads the sensors of a chain of buoys and reports the mean salinity.
package main

import (
	"errors"
	"log/slog"
	"time"

	"latchwork"
)

const tries = 4

type Chain struct {
	Buoys []string `json:"buoys"`
}

type Reading struct {
	// Parts per million, which are whole numbers.
	PPM   int  `json:"ppm"`
	Valid bool `json:"valid"`
}

type Report struct {
	Mean   *int     `json:"mean_ppm"`
	Read   int      `json:"read"`
	Silent []string `json:"silent"`
}

func init() {
	latchwork.Step("Buoy.Salinity", latchwork.Spec{
		Description: "Reads the salinity sensors of a chain of buoys.",
		Determinism: latchwork.External,
		Input: latchwork.Schema(`{"type":"object","properties":{
			"buoys":{"type":"array","minItems":1,"maxItems":60,"items":{"type":"string","minLength":1,"maxLength":20}}},
			"required":["buoys"],"additionalProperties":false}`),
	}, salinity)
}

// sample asks a buoy at most four times. A sensor gives an invalid reading while it rinses.
func sample(buoy string) (Reading, bool, error) {
	for try := 1; try <= tries; try++ {
		reading, err := latchwork.Call[Reading]("Telemetry.Read", map[string]any{"buoy": buoy, "sensor": "salinity"})
		var failure *latchwork.Failure
		switch {
		case err == nil && reading.Valid:
			return reading, true, nil
		case err == nil:
			time.Sleep(20 * time.Second)
		case errors.As(err, &failure) && failure.Code == latchwork.RateLimit:
			// The satellite makes us wait for our turn. The buoy was not asked, so this is none of its tries.
			time.Sleep(max(failure.RetryAfter, time.Minute))
			try--
		case errors.As(err, &failure) && failure.Code == latchwork.NetworkTimeout:
			slog.Info("no answer", "buoy", buoy, "try", try)
		default:
			return Reading{}, false, err
		}
	}
	return Reading{}, false, nil
}

func salinity(_ latchwork.Context, chain Chain) (Report, error) {
	report := Report{Silent: []string{}}
	sum := 0
	for _, buoy := range chain.Buoys {
		reading, answered, err := sample(buoy)
		if err != nil {
			return Report{}, err
		}
		if !answered {
			report.Silent = append(report.Silent, buoy)
			continue
		}
		sum += reading.PPM
		report.Read++
	}
	if report.Read > 0 {
		mean := sum / report.Read
		report.Mean = &mean
	}
	return report, nil
}

func main() {}
