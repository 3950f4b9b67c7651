package main

import (
	"time"

	"latchwork"
)

// Passage asks whether a boat can still pass a lock today.
type Passage struct {
	Lock   string    `json:"lock"`
	Boat   string    `json:"boat"`
	Closes time.Time `json:"closes"`
}

// Place is the place of the boat before the lock.
type Place struct {
	Boat        string `json:"boat"`
	Ahead       int    `json:"ahead"`
	SecondsLeft int64  `json:"seconds_left"`
}

type queue struct {
	Boats []string `json:"boats"`
}

type lock struct {
	Lock string `json:"lock"`
}

func init() {
	latchwork.Step("Lock.Passage", latchwork.Spec{
		Description: "Finds the place of a boat before a lock, and the time until the lock closes.",
		Determinism: latchwork.External,
		Output: latchwork.Schema(`{"type":"object","required":["boat","ahead","seconds_left"],"properties":{
			"boat":{"type":"string"},"ahead":{"type":"integer","minimum":0},
			"seconds_left":{"type":"integer","minimum":0}}}`),
	}, passage)
}

func passage(_ latchwork.Context, wanted Passage) (Place, error) {
	if time.Until(wanted.Closes) <= 0 {
		return Place{}, latchwork.Fail(latchwork.PolicyDenied, "lock %s is closed", wanted.Lock)
	}
	waiting, err := latchwork.Call[queue]("Lock.Queue", lock{wanted.Lock})
	if err != nil {
		return Place{}, err
	}
	ahead := len(waiting.Boats)
	for i, boat := range waiting.Boats {
		if boat == wanted.Boat {
			ahead = i
			break
		}
	}
	return Place{
		Boat:        wanted.Boat,
		Ahead:       ahead,
		SecondsLeft: int64(time.Until(wanted.Closes).Seconds()),
	}, nil
}

func main() {}
