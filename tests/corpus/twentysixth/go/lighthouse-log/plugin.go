// Package main keeps the log of a lighthouse: one entry for each watch.
package main

import (
	"encoding/json"
	"strings"

	"latchwork"
)

type Watch struct {
	Keeper  string `json:"keeper"`
	Weather string `json:"weather"`
	Ships   int    `json:"ships"`
}

type Logged struct {
	Entry string `json:"entry"`
	Ships int    `json:"ships"`
}

func init() {
	latchwork.Tool("Lighthouse.Log", latchwork.Spec{
		Description: "Writes a watch into the log of a lighthouse.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, write).Reconcile(find)
}

// entryOf names the entry of a call. Plan and slot are equal in every try of the call.
func entryOf(call *latchwork.Invocation) string {
	return "watch/" + call.PlanID + "/" + call.Slot
}

func write(call *latchwork.Invocation, watch Watch) (Logged, error) {
	if strings.TrimSpace(watch.Keeper) == "" {
		return Logged{}, latchwork.Fail(latchwork.InvalidInput, "the keeper is missing")
	}
	if watch.Ships < 0 || len(watch.Weather) > 5000 {
		return Logged{}, latchwork.Fail(latchwork.InvalidInput, "ships or weather are out of range")
	}
	text, err := json.Marshal(watch)
	if err != nil {
		return Logged{}, err
	}
	if err := latchwork.KVSet(entryOf(call), text); err != nil {
		return Logged{}, err
	}
	return logged(call, watch), nil
}

func find(call *latchwork.Invocation, _ Watch) (latchwork.Verdict, error) {
	text, found, err := latchwork.KVGet(entryOf(call))
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	var watch Watch
	if err := json.Unmarshal(text, &watch); err != nil {
		return latchwork.Unknown, err
	}
	return latchwork.Happened(logged(call, watch)), nil
}

func logged(call *latchwork.Invocation, watch Watch) Logged {
	call.Changed(latchwork.Change{ResourceType: "watch", ResourceID: entryOf(call), Operation: "create"})
	return Logged{entryOf(call), watch.Ships}
}

func main() {}
