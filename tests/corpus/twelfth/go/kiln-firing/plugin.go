package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"latchwork"
)

type Segment struct {
	RatePerHour int  `json:"rate_per_hour"`
	ToCelsius   int  `json:"to_celsius"`
	HoldMinutes *int `json:"hold_minutes,omitempty"`
}

type Firing struct {
	StartCelsius int       `json:"start_celsius"`
	Segments     []Segment `json:"segments"`
}

type Schedule struct {
	Minutes     int    `json:"minutes"`
	PeakCelsius int    `json:"peak_celsius"`
	Cone        string `json:"cone"`
	Fingerprint string `json:"fingerprint"`
}

var cones = []struct {
	from int
	name string
}{{1280, "10"}, {1222, "6"}, {1060, "04"}, {600, "022"}}

func init() {
	latchwork.Step("Kiln.Plan", latchwork.Spec{
		Description: "Computes the length of a kiln firing, and a fingerprint that identifies its schedule.",
	}, plan)
}

func plan(_ latchwork.Context, firing Firing) (Schedule, error) {
	if len(firing.Segments) == 0 {
		return Schedule{}, latchwork.Fail(latchwork.InvalidInput, "the firing has no segments")
	}
	if firing.StartCelsius < 0 || firing.StartCelsius > 1400 {
		return Schedule{}, latchwork.Fail(latchwork.InvalidInput, "the kiln cannot start at %d degrees", firing.StartCelsius)
	}
	schedule := Schedule{PeakCelsius: firing.StartCelsius, Cone: "none"}
	at := firing.StartCelsius
	for i, segment := range firing.Segments {
		if segment.RatePerHour <= 0 || segment.ToCelsius < 0 || segment.ToCelsius > 1400 {
			return Schedule{}, latchwork.Fail(latchwork.InvalidInput, "segment %d is outside the range of the kiln", i+1)
		}
		schedule.Minutes += abs(segment.ToCelsius-at) * 60 / segment.RatePerHour
		if segment.HoldMinutes != nil {
			schedule.Minutes += min(max(*segment.HoldMinutes, 0), 1440)
		}
		at = segment.ToCelsius
		schedule.PeakCelsius = max(schedule.PeakCelsius, at)
	}
	for _, cone := range cones {
		if schedule.PeakCelsius >= cone.from {
			schedule.Cone = cone.name
			break
		}
	}
	schedule.Fingerprint = fingerprint(firing)
	return schedule, nil
}

// fingerprint names a schedule, so that the kiln log can refer to it.
func fingerprint(firing Firing) string {
	sum := sha256.Sum256([]byte(fmt.Sprintf("%+v", firing)))
	return hex.EncodeToString(sum[:8])
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

// main is empty: the host calls the operators.
func main() {}
