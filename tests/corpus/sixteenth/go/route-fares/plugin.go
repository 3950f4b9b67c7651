// Command route-fares computes the fares of bus routes from the zones of their stops.
package main

import (
	"sync"

	"latchwork"
)

// Cents of a ride within one zone, and of each further zone.
const (
	base    = 220
	perZone = 90
)

type Stop struct {
	Name string `json:"name"`
	Zone int    `json:"zone"`
}

type Route struct {
	Name  string `json:"name"`
	Night bool   `json:"night"`
	Stops []Stop `json:"stops"`
}

type Network struct {
	Routes []Route `json:"routes"`
}

type Fare struct {
	Route string `json:"route"`
	Zones int    `json:"zones"`
	Cents int    `json:"cents"`
}

type Tariff struct {
	Fares   []Fare `json:"fares"`
	Dearest int    `json:"dearest"`
}

func init() {
	latchwork.Step("Route.Fares", latchwork.Spec{
		Description: "Computes the fare of each route from end to end.",
	}, fares)
}

func fares(_ latchwork.Context, network Network) (Tariff, error) {
	if len(network.Routes) > 500 {
		return Tariff{}, latchwork.Fail(latchwork.InvalidInput, "a network has at most 500 routes")
	}
	tariff := Tariff{Fares: make([]Fare, len(network.Routes))}
	wrong := make(chan error, 1)
	var group sync.WaitGroup
	for i, route := range network.Routes {
		group.Add(1)
		go func() {
			defer group.Done()
			fare, err := fareOf(route)
			if err != nil {
				wrong <- err
				return
			}
			tariff.Fares[i] = fare
		}()
	}
	group.Wait()
	close(wrong)
	if err := <-wrong; err != nil {
		return Tariff{}, err
	}
	for _, fare := range tariff.Fares {
		tariff.Dearest = max(tariff.Dearest, fare.Cents)
	}
	return tariff, nil
}

// fareOf counts the borders between zones that a route crosses. A night route costs half as much again.
func fareOf(route Route) (Fare, error) {
	if len(route.Stops) < 2 {
		return Fare{}, latchwork.Fail(latchwork.InvalidInput, "route %s has fewer than two stops", route.Name)
	}
	zones := 1
	for i, stop := range route.Stops {
		if stop.Zone < 1 || stop.Zone > 40 {
			return Fare{}, latchwork.Fail(latchwork.InvalidInput, "stop %s has the zone %d", stop.Name, stop.Zone)
		}
		if i > 0 && stop.Zone != route.Stops[i-1].Zone {
			zones++
		}
	}
	cents := base + perZone*(zones-1)
	if route.Night {
		cents += cents / 2
	}
	return Fare{route.Name, zones, cents}, nil
}

// main is empty: the host calls the operators.
func main() {}
