package main

import (
	"errors"
	"math"
	"time"

	"latchwork"
)

type Route struct {
	Region string  `json:"region"`
	Km     float64 `json:"km"`
	// Usage is the consumption in liters per 100 km.
	Usage float64 `json:"usage"`
}

type Cost struct {
	Liters float64   `json:"liters"`
	Cents  int       `json:"cents"`
	Source string    `json:"source"`
	At     time.Time `json:"at"`
}

type price struct {
	// Tenths is the price of a liter in tenths of a cent.
	Tenths int `json:"tenths"`
}

const rounds = 3

func init() {
	latchwork.Step("Route.Fuel", latchwork.Spec{
		Description: "Computes the fuel cost of a route with the price of today, or else with the average price.",
		Determinism: latchwork.External,
	}, fuel)
}

func fuel(_ latchwork.Context, route Route) (Cost, error) {
	if route.Km <= 0 || route.Km > 20000 || route.Usage <= 0 || route.Usage > 100 {
		return Cost{}, latchwork.Fail(latchwork.InvalidInput, "km or usage are out of range")
	}
	found, source, err := find(map[string]string{"region": route.Region})
	if err != nil {
		return Cost{}, err
	}
	if found.Tenths <= 0 || found.Tenths > 100000 {
		return Cost{}, latchwork.Fail(latchwork.DependencyUnavailable, "%d is no price", found.Tenths)
	}
	liters := math.Round(route.Km*route.Usage) / 100
	return Cost{liters, int(math.Ceil(liters * float64(found.Tenths) / 10)), source, time.Now()}, nil
}

// find asks for the price of today at most three times, and then once for the average.
func find(region map[string]string) (price, string, error) {
	for round := range rounds {
		today, err := latchwork.Call[price]("Fuel.Price", region)
		if err == nil {
			return today, "today", nil
		}
		if !passing(err) {
			return price{}, "", err
		}
		if round < rounds-1 {
			time.Sleep(time.Minute)
		}
	}
	average, err := latchwork.Call[price]("Fuel.Average", region)
	return average, "average", err
}

// passing returns true if the service may answer later.
func passing(err error) bool {
	var failure *latchwork.Failure
	if !errors.As(err, &failure) {
		return false
	}
	switch failure.Code {
	case latchwork.RateLimit, latchwork.NetworkTimeout, latchwork.TemporaryProviderError:
		return true
	}
	return false
}

// main is empty: the host calls the operators.
func main() {}
