package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"latchwork"
)

const tries = 3

type Breakdown struct {
	Plate string `json:"plate"`
	Place string `json:"place"`
}

type Nearest struct {
	Garage  string `json:"garage"`
	Minutes int    `json:"minutes"`
}

type Order struct {
	Reference string `json:"reference"`
	Garage    string `json:"garage"`
	Plate     string `json:"plate"`
}

type Tow struct {
	Reference string    `json:"reference"`
	Garage    string    `json:"garage"`
	OrderedAt time.Time `json:"ordered_at"`
	DueAt     time.Time `json:"due_at"`
}

func init() {
	latchwork.Step("Breakdown.Tow", latchwork.Spec{
		Description: "Finds the nearest garage and orders a tow truck from it.",
		// The answers of the garages change.
		Determinism: latchwork.External,
	}, tow)
}

func tow(_ latchwork.Context, breakdown Breakdown) (Tow, error) {
	if breakdown.Plate == "" || breakdown.Place == "" {
		return Tow{}, latchwork.Fail(latchwork.InvalidInput, "a plate and a place are needed")
	}
	near, err := nearest(breakdown)
	if err != nil {
		return Tow{}, err
	}
	reference := fmt.Sprintf("T%06d", rand.IntN(1_000_000))
	if _, err := latchwork.Call[json.RawMessage]("Tow.Order", Order{reference, near.Garage, breakdown.Plate}); err != nil {
		return Tow{}, fmt.Errorf("order at %s: %w", near.Garage, err)
	}
	now := time.Now()
	return Tow{reference, near.Garage, now, now.Add(time.Duration(near.Minutes) * time.Minute)}, nil
}

// nearest asks the index of garages a few times, then the depot of the club.
func nearest(breakdown Breakdown) (Nearest, error) {
	for round := range tries {
		near, err := latchwork.Call[Nearest]("Garage.Nearest", breakdown)
		if err == nil {
			return usable(near)
		}
		slog.Warn("no answer of the index", "round", round, "error", err, "at", time.Now())
		time.Sleep(time.Duration(round+1) * 10 * time.Second)
	}
	near, err := latchwork.Call[Nearest]("Depot.Nearest", breakdown)
	if err != nil {
		return Nearest{}, fmt.Errorf("no garage found: %w", err)
	}
	return usable(near)
}

func usable(near Nearest) (Nearest, error) {
	if near.Garage == "" || len(near.Garage) > 200 || near.Minutes < 0 || near.Minutes > 24*60 {
		return Nearest{}, latchwork.Fail(latchwork.DependencyUnavailable, "no garage within a day")
	}
	return near, nil
}

func main() {}
