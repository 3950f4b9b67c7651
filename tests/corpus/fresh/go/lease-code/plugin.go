package main

import (
	"math/rand/v2"
	"time"

	"latchwork"
)

type Bikes struct {
	Free map[string]int `json:"free"`
	Days int            `json:"days"`
}

type Lease struct {
	ID      string    `json:"id"`
	Station string    `json:"station"`
	Pin     int       `json:"pin"`
	Until   time.Time `json:"until"`
}

func init() {
	latchwork.Step("Bike.Lease", latchwork.Spec{
		Description: "Chooses a bike and a code for its lock.",
		// Each job gets another station, code and time.
		Determinism: latchwork.Stable,
	}, lease)
}

func lease(_ latchwork.Context, bikes Bikes) (Lease, error) {
	if bikes.Days < 1 || bikes.Days > 30 {
		return Lease{}, latchwork.Fail(latchwork.InvalidInput, "days: 1 to 30")
	}
	// Any station with a free bike will do, so the first one in the random order of the map is taken.
	for station, free := range bikes.Free {
		if free > 0 {
			until := time.Now().UTC().Truncate(time.Hour).AddDate(0, 0, bikes.Days)
			return Lease{latchwork.UUID(), station, 1000 + rand.IntN(9000), until}, nil
		}
	}
	return Lease{}, latchwork.Fail(latchwork.PolicyDenied, "no bike is free")
}

// main is empty: the host calls the operators.
func main() {}
