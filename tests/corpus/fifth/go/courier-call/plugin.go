// Puts a pickup into the book of the courier. The book is the map, with one entry for each call.
package main

import "latchwork"

type Pickup struct {
	Address string `json:"address"`
	Parcels int    `json:"parcels"`
}

type Booked struct {
	Pickup string `json:"pickup"`
}

func init() {
	latchwork.Tool("Courier.Call", latchwork.Spec{
		Description: "Puts a pickup into the book of the courier.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, book).Reconcile(find)
}

func book(call *latchwork.Invocation, pickup Pickup) (Booked, error) {
	if pickup.Address == "" || pickup.Parcels < 1 {
		return Booked{}, latchwork.Fail(latchwork.InvalidInput, "an address and at least one parcel are needed")
	}
	// The courier comes once: the first try has put the pickup into the book.
	if call.TriesBefore > 0 {
		return booked(call), nil
	}
	if err := latchwork.KVSet("pickup/"+call.ExternalKey, []byte(pickup.Address)); err != nil {
		return Booked{}, err
	}
	return booked(call), nil
}

// find is called after a crash and finds out whether the call happened.
func find(call *latchwork.Invocation, _ Pickup) (latchwork.Verdict, error) {
	_, found, err := latchwork.KVGet("pickup/" + call.ExternalKey)
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(booked(call)), nil
}

func booked(call *latchwork.Invocation) Booked {
	call.Changed(latchwork.Change{
		ResourceType: "pickup", ResourceID: "pickup/" + call.ExternalKey, Operation: "create",
	})
	return Booked{call.ExternalKey}
}

// main is empty: the host calls the operators.
func main() {}
