// Package main enters the yearly levy on a meadow into the book of a drainage board.
package main

import (
	"fmt"
	"strconv"

	"latchwork"
)

type Meadow struct {
	Parcel   string  `json:"parcel"`
	Hectares float64 `json:"hectares"`
	Rate     float64 `json:"rate"`
}

type Levy struct {
	Parcel string  `json:"parcel"`
	Due    float64 `json:"due"`
}

func init() {
	latchwork.Tool("Levy.Enter", latchwork.Spec{
		Description: "Enters the levy on a meadow.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, enter).Reconcile(find)
}

func enter(call *latchwork.Invocation, meadow Meadow) (Levy, error) {
	if meadow.Parcel == "" {
		return Levy{}, latchwork.Fail(latchwork.InvalidInput, "the parcel is missing")
	}
	if meadow.Hectares <= 0 || meadow.Hectares > 10_000 || meadow.Rate <= 0 || meadow.Rate > 1_000 {
		return Levy{}, latchwork.Fail(latchwork.InvalidInput, "area or rate are out of range")
	}
	due := meadow.Hectares * meadow.Rate
	if err := latchwork.KVSet(call.ExternalKey, fmt.Appendf(nil, "%.2f", due)); err != nil {
		return Levy{}, err
	}
	return entered(call, meadow, due), nil
}

// find looks into the book for the levy of the call.
func find(call *latchwork.Invocation, meadow Meadow) (latchwork.Verdict, error) {
	text, found, err := latchwork.KVGet(call.ExternalKey)
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	due, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return latchwork.Unknown, err
	}
	return latchwork.Happened(entered(call, meadow, due)), nil
}

func entered(call *latchwork.Invocation, meadow Meadow, due float64) Levy {
	call.Changed(latchwork.Change{ResourceType: "levy", ResourceID: call.ExternalKey, Operation: "create", ExternalRef: meadow.Parcel})
	return Levy{meadow.Parcel, due}
}

func main() {}
