// Command quay-lanes puts the cars of two quay lanes in the order in which they drive onto a ferry.
package main

import (
	"strings"

	"latchwork"
)

type Car struct {
	Plate string  `json:"plate"`
	Meter float64 `json:"meter"`
}

type Quay struct {
	North []Car   `json:"north"`
	South []Car   `json:"south"`
	Deck  float64 `json:"deck"`
}

type Place struct {
	Number int    `json:"number"`
	Lane   string `json:"lane"`
	Plate  string `json:"plate"`
}

type Loading struct {
	Places []Place  `json:"places"`
	Left   []string `json:"left"`
}

func init() {
	latchwork.Step("Quay.Load", latchwork.Spec{
		Description: "Loads the cars of two lanes as they reach the ramp, until the deck is full.",
	}, load)
}

func load(_ latchwork.Context, quay Quay) (Loading, error) {
	if quay.Deck <= 0 {
		return Loading{}, latchwork.Fail(latchwork.InvalidInput, "the deck has no length")
	}
	for _, car := range append(append([]Car{}, quay.North...), quay.South...) {
		if strings.TrimSpace(car.Plate) == "" || car.Meter <= 0 {
			return Loading{}, latchwork.Fail(latchwork.InvalidInput, "a car has no plate or no length")
		}
	}
	north, south := drive(quay.North), drive(quay.South)
	loading := Loading{Places: []Place{}, Left: []string{}}
	room := quay.Deck
	take := func(lane string, car Car) {
		if car.Meter > room {
			loading.Left = append(loading.Left, car.Plate)
			return
		}
		room -= car.Meter
		loading.Places = append(loading.Places, Place{len(loading.Places) + 1, lane, car.Plate})
	}
	for north != nil || south != nil {
		select {
		case car, more := <-north:
			if !more {
				north = nil
				continue
			}
			take("north", car)
		case car, more := <-south:
			if !more {
				south = nil
				continue
			}
			take("south", car)
		}
	}
	return loading, nil
}

// drive sends the cars of a lane to the ramp, one after the other.
func drive(cars []Car) <-chan Car {
	ramp := make(chan Car, 1)
	go func() {
		defer close(ramp)
		for _, car := range cars {
			ramp <- car
		}
	}()
	return ramp
}

// main is empty: the host calls the operators.
func main() {}
