package main

import (
	"encoding/json"
	"time"

	"latchwork"
)

type Request struct {
	Meadow string `json:"meadow"`
	Farmer string `json:"farmer"`
	Sheep  int    `json:"sheep"`
	Until  string `json:"until"`
}

type Lease struct {
	Number string `json:"number"`
	Meadow string `json:"meadow"`
	Farmer string `json:"farmer"`
	Sheep  int    `json:"sheep"`
	Until  string `json:"until"`
}

func init() {
	latchwork.Tool("Lease.Grant", latchwork.Spec{
		Description: "Grants the lease of a meadow and keeps it under the key of the call.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
		// The entry has the external key as its name, so a repetition finds it.
		IdempotentByKey: 48 * time.Hour,
	}, grant).Verify(check)
}

func grant(call *latchwork.Invocation, request Request) (Lease, error) {
	if _, err := time.Parse(time.DateOnly, request.Until); err != nil {
		return Lease{}, latchwork.Fail(latchwork.InvalidInput, "until: %s", err.Error())
	}
	if request.Sheep < 1 || request.Sheep > 500 {
		return Lease{}, latchwork.Fail(latchwork.InvalidInput, "%d sheep", request.Sheep)
	}

	entry := "lease/" + call.ExternalKey
	kept, found, err := latchwork.KVGet(entry)
	if err != nil {
		return Lease{}, err
	}
	var lease Lease
	if found && json.Unmarshal(kept, &lease) == nil {
		return lease, nil
	}

	lease = Lease{entry, request.Meadow, request.Farmer, request.Sheep, request.Until}
	text, err := json.Marshal(lease)
	if err != nil {
		return Lease{}, err
	}
	if err := latchwork.KVSet(entry, text); err != nil {
		return Lease{}, err
	}
	call.Receipt(map[string]string{"lease": entry})
	call.Changed(latchwork.Change{ResourceType: "lease", ResourceID: entry, Operation: "create", Version: string(text)})
	return lease, nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(change.ResourceID)
	if err != nil {
		return "", err
	}
	if !found {
		return "the lease is missing", nil
	}
	if string(text) != change.Version {
		return "the lease now says " + string(text), nil
	}
	return "", nil
}

func main() {}
