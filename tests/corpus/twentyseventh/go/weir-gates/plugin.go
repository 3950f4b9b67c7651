// Package main sets the gates of a weir. The controllers of the gates poll the map. Every entry has the key of the call that
// wrote it, so that a call can be found again.
package main

import (
	"encoding/json"

	"latchwork"
)

type Order struct {
	Gate    string `json:"gate"`
	Percent int    `json:"percent"`
}

// Set is the answer: the opening of the gate now, and its opening before, if it had one.
type Set struct {
	Gate    string `json:"gate"`
	Percent int    `json:"percent"`
	Before  *int   `json:"before,omitempty"`
}

type entry struct {
	Percent int    `json:"percent"`
	By      string `json:"by"`
}

type Asked struct {
	Gate string `json:"gate"`
}

type Position struct {
	Gate    string `json:"gate"`
	Percent int    `json:"percent"`
}

func init() {
	latchwork.Tool("Gate.Set", latchwork.Spec{
		Description: "Opens or closes a gate of the weir.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, set).Reconcile(find)
	latchwork.Tool("Gate.Show", latchwork.Spec{
		Description: "Shows the opening of a gate.",
	}, show)
}

// read returns the entry of a gate, or nil if the gate was never set.
func read(gate string) (*entry, error) {
	text, found, err := latchwork.KVGet("gate/" + gate)
	if err != nil || !found {
		return nil, err
	}
	var one entry
	if err := json.Unmarshal(text, &one); err != nil {
		return nil, latchwork.Fail(latchwork.MissingRequiredContext, "the entry of gate %s cannot be read: %w", gate, err)
	}
	return &one, nil
}

func set(call *latchwork.Invocation, order Order) (Set, error) {
	if order.Gate == "" || len(order.Gate) > 40 {
		return Set{}, latchwork.Fail(latchwork.InvalidInput, "there is no such gate")
	}
	if order.Percent < 0 || order.Percent > 100 {
		return Set{}, latchwork.Fail(latchwork.InvalidInput, "a gate opens from 0 to 100 percent")
	}
	old, err := read(order.Gate)
	if err != nil {
		return Set{}, err
	}
	text, err := json.Marshal(entry{order.Percent, call.ExternalKey})
	if err != nil {
		return Set{}, latchwork.Fail(latchwork.InvalidInput, "the order cannot be kept: %w", err)
	}
	if err := latchwork.KVSet("gate/"+order.Gate, text); err != nil {
		return Set{}, err
	}
	made := done(call, order)
	if old != nil {
		made.Before = &old.Percent
	}
	return made, nil
}

func done(call *latchwork.Invocation, order Order) Set {
	call.Changed(latchwork.Change{ResourceType: "gate", ResourceID: order.Gate, Operation: "update", Version: call.ExternalKey})
	return Set{Gate: order.Gate, Percent: order.Percent}
}

// find looks whose order the gate obeys. Entries are never removed: a gate without an entry got no order. An entry of
// another call proves nothing, because it may have replaced ours.
func find(call *latchwork.Invocation, order Order) (latchwork.Verdict, error) {
	now, err := read(order.Gate)
	switch {
	case err != nil:
		return latchwork.Unknown, err
	case now == nil:
		return latchwork.DidNotHappen, nil
	case now.By != call.ExternalKey:
		return latchwork.Unknown, nil
	}
	return latchwork.Happened(done(call, order)), nil
}

func show(_ *latchwork.Invocation, asked Asked) (Position, error) {
	now, err := read(asked.Gate)
	if err != nil {
		return Position{}, err
	}
	if now == nil {
		return Position{}, latchwork.Fail(latchwork.MissingRequiredContext, "gate %s was never set", asked.Gate)
	}
	return Position{asked.Gate, now.Percent}, nil
}

// main is empty: the host calls the operators.
func main() {}
