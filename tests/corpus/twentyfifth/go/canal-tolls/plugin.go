package main

import (
	"encoding/json"
	"time"

	"latchwork"
)

// Toll is the toll of a boat on a canal.
type Toll struct {
	Boat   string   `json:"boat"`
	Length int      `json:"decimetres"`
	Locks  []string `json:"locks"`
}

// Paid is the receipt of the toll, in cents.
type Paid struct {
	Receipt string `json:"receipt"`
	Cents   int    `json:"cents"`
}

func init() {
	latchwork.Tool("Toll.Note", latchwork.Spec{
		Description:     "Notes the toll of a boat in the book of the canal.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 24 * time.Hour,
	}, note).Reconcile(find).Compensate(cancel)
}

func note(call *latchwork.Invocation, toll Toll) (Paid, error) {
	if toll.Length < 10 || toll.Length > 700 {
		return Paid{}, latchwork.Fail(latchwork.InvalidInput, "the canal takes no boat of %d decimetres", toll.Length)
	}
	// A later try finds the line of the first one in the book.
	if call.TriesBefore > 0 {
		return noted(call, toll), nil
	}
	line, err := json.Marshal(toll)
	if err != nil {
		return Paid{}, err
	}
	if err := latchwork.KVSet(call.ExternalKey, line); err != nil {
		return Paid{}, err
	}
	return noted(call, toll), nil
}

func noted(call *latchwork.Invocation, toll Toll) Paid {
	call.Changed(latchwork.Change{ResourceType: "toll", ResourceID: call.ExternalKey, Operation: "create"})
	return Paid{call.ExternalKey, toll.Length * (2 + 3*len(toll.Locks))}
}

func find(call *latchwork.Invocation, toll Toll) (latchwork.Verdict, error) {
	_, found, err := latchwork.KVGet(call.ExternalKey)
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(noted(call, toll)), nil
}

func cancel(call *latchwork.Invocation, toll Toll, _ Paid) error {
	line, err := json.Marshal(toll)
	if err != nil {
		return err
	}
	found, _, err := latchwork.KVGet(call.ExternalKey)
	if err != nil {
		return err
	}
	if string(found) != string(line) {
		return latchwork.Fail(latchwork.PolicyDenied, "the toll was changed or removed")
	}
	was, err := latchwork.KVDelete(call.ExternalKey)
	if err != nil {
		return err
	}
	if !was {
		return latchwork.Fail(latchwork.PolicyDenied, "the toll was removed")
	}
	call.Changed(latchwork.Change{ResourceType: "toll", ResourceID: call.ExternalKey, Operation: "delete"})
	return nil
}

func main() {}
