// Books a window at a loading dock for a truck. Each window of a dock belongs to one truck.
package main

import (
	"encoding/json"

	"latchwork"
)

type Window struct {
	Dock  string `json:"dock"`
	Hour  int    `json:"hour"`
	Truck string `json:"truck"`
}

type Booked struct {
	Entry string `json:"entry"`
}

type entry struct {
	Truck string `json:"truck"`
	Key   string `json:"key"`
}

func init() {
	latchwork.Tool("Dock.Book", latchwork.Spec{
		Description:     "Books a window at a dock.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 86400 * 1e9,
	}, book).Verify(check)
}

func book(call *latchwork.Invocation, window Window) (Booked, error) {
	if window.Dock == "" || len(window.Dock) > 40 || window.Hour < 0 || window.Hour > 23 || window.Truck == "" {
		return Booked{}, latchwork.Fail(latchwork.InvalidInput, "dock, hour or truck is not valid")
	}
	name := "dock/" + window.Dock + "/" + string(rune('a'+window.Hour))
	if _, taken, err := latchwork.KVGet(name); err != nil {
		return Booked{}, err
	} else if taken {
		return Booked{}, latchwork.Fail(latchwork.PolicyDenied, "the window is taken")
	}
	value, err := json.Marshal(entry{window.Truck, call.ExternalKey})
	if err != nil {
		return Booked{}, err
	}
	if err := latchwork.KVSet(name, value); err != nil {
		return Booked{}, err
	}
	call.Changed(latchwork.Change{ResourceType: "window", ResourceID: name, Operation: "create", Version: window.Truck})
	return Booked{name}, nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	value, found, err := latchwork.KVGet(change.ResourceID)
	if err != nil {
		return "", err
	}
	var kept entry
	if !found || json.Unmarshal(value, &kept) != nil {
		return "the window is not booked", nil
	}
	if kept.Truck != change.Version {
		return "the window belongs to another truck", nil
	}
	return "", nil
}

// main is empty: the host calls the operators.
func main() {}
