// Command lab-results collects the results of the samples that a waterworks has sent to a laboratory.
package main

import (
	"errors"
	"log/slog"
	"time"

	"latchwork"
)

// rounds is the number of times that the laboratory is asked about an open sample.
const rounds = 3

type Input struct {
	Samples []string `json:"samples"`
}

// Result is the answer of the laboratory about a sample.
type Result struct {
	State   string  `json:"state"`
	Nitrate float64 `json:"nitrate_mg"`
}

type Value struct {
	Sample  string  `json:"sample"`
	Nitrate float64 `json:"nitrate_mg"`
}

type Report struct {
	Values      []Value   `json:"values"`
	Open        []string  `json:"open"`
	CollectedAt time.Time `json:"collected_at"`
}

func init() {
	latchwork.Step("Lab.Collect", latchwork.Spec{
		Description: "Collects the results of samples, and lists the samples that are still open.",
		Determinism: latchwork.External,
	}, collect)
}

func collect(_ latchwork.Context, in Input) (Report, error) {
	if len(in.Samples) == 0 || len(in.Samples) > 50 {
		return Report{}, latchwork.Fail(latchwork.InvalidInput, "a report has 1 to 50 samples, not %d", len(in.Samples))
	}
	found := make([]*Value, len(in.Samples))
	for round := range rounds {
		open := 0
		for i, sample := range in.Samples {
			if found[i] != nil {
				continue
			}
			result, err := latchwork.Call[Result]("Lab.Result", map[string]string{"sample": sample})
			var failure *latchwork.Failure
			switch {
			case errors.As(err, &failure) && failure.Code == latchwork.TemporaryProviderError:
				slog.Warn("the laboratory has a fault", "sample", sample, "round", round)
				open++
			case err != nil:
				return Report{}, err
			case result.State == "done":
				found[i] = &Value{sample, result.Nitrate}
			default:
				open++
			}
		}
		if open == 0 {
			break
		}
	}

	report := Report{Values: []Value{}, Open: []string{}, CollectedAt: time.Now().UTC()}
	for i, value := range found {
		if value == nil {
			report.Open = append(report.Open, in.Samples[i])
		} else {
			report.Values = append(report.Values, *value)
		}
	}
	return report, nil
}

// main is empty: the host calls the operators.
func main() {}
