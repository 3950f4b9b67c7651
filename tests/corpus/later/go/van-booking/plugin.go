package main

import (
	"encoding/json"

	"latchwork"
)

type Trip struct {
	Driver string `json:"driver"`
	From   string `json:"from"`
	To     string `json:"to"`
}

type Booked struct {
	Booking string `json:"booking"`
	Driver  string `json:"driver"`
}

func init() {
	latchwork.Tool("Van.Book", latchwork.Spec{
		Description: "Books a van for a trip.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, book).Reconcile(find)
}

// place is the key of a booking. The slot is the same in every try of the call.
func place(call *latchwork.Invocation) string { return "booking/" + call.Slot }

func book(call *latchwork.Invocation, trip Trip) (Booked, error) {
	if trip.Driver == "" || trip.From == "" || trip.From == trip.To {
		return Booked{}, latchwork.Fail(latchwork.InvalidInput, "a trip needs a driver and two places")
	}
	value, err := json.Marshal(trip)
	if err != nil {
		return Booked{}, err
	}
	if err := latchwork.KVSet(place(call), value); err != nil {
		return Booked{}, err
	}
	return booked(call, trip), nil
}

// find is called after a crash and finds out whether the trip was booked.
func find(call *latchwork.Invocation, _ Trip) (latchwork.Verdict, error) {
	value, found, err := latchwork.KVGet(place(call))
	if err != nil || !found {
		return latchwork.DidNotHappen, err
	}
	var trip Trip
	if err := json.Unmarshal(value, &trip); err != nil {
		return latchwork.Unknown, nil
	}
	return latchwork.Happened(booked(call, trip)), nil
}

func booked(call *latchwork.Invocation, trip Trip) Booked {
	call.Changed(latchwork.Change{ResourceType: "booking", ResourceID: place(call), Operation: "create"})
	return Booked{place(call), trip.Driver}
}

// main is empty: the host calls the operators.
func main() {}
