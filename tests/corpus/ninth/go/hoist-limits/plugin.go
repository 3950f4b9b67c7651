package main

import (
	"strings"

	"latchwork"
)

type Lift struct {
	Hoist string `json:"hoist"`
	Kilos int    `json:"kilos"`
}

type Shift struct {
	Limits map[string]int `json:"limits"`
	Lifts  []Lift         `json:"lifts"`
}

type Report struct {
	Lifts    int `json:"lifts"`
	Heaviest int `json:"heaviest"`
}

func init() {
	latchwork.Step("Hoist.Check", latchwork.Spec{
		Description: "Checks the lifts of a shift against the limits of the hoists.",
	}, check)
}

func check(_ latchwork.Context, shift Shift) (Report, error) {
	if len(shift.Lifts) > 1000 || len(shift.Limits) > 100 {
		return Report{}, latchwork.Fail(latchwork.InvalidInput, "a shift has at most 1000 lifts and 100 hoists")
	}
	report := Report{Lifts: len(shift.Lifts)}
	// Heaviest lift of each hoist.
	peaks := make(map[string]int)
	for _, lift := range shift.Lifts {
		if _, known := shift.Limits[lift.Hoist]; !known {
			return Report{}, latchwork.Fail(latchwork.InvalidInput, "there is no limit for hoist %s", lift.Hoist)
		}
		peaks[lift.Hoist] = max(peaks[lift.Hoist], lift.Kilos)
		report.Heaviest = max(report.Heaviest, lift.Kilos)
	}
	var over []string
	for hoist, peak := range peaks {
		if peak > shift.Limits[hoist] {
			over = append(over, hoist)
		}
	}
	if len(over) > 0 {
		return Report{}, latchwork.Fail(latchwork.PolicyDenied, "over the limit: %s", strings.Join(over, ", "))
	}
	return report, nil
}

func main() {}
