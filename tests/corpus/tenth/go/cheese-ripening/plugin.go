package main

import (
	"encoding/json"
	"log/slog"
	"time"

	"latchwork"
)

type Wheel struct {
	Cheese string `json:"cheese"`
	Shelf  int    `json:"shelf"`
}

type Placed struct {
	Wheel    string `json:"wheel"`
	PlacedAt string `json:"placed_at"`
}

// Entry is what the cellar map has of a wheel.
type Entry struct {
	Cheese   string `json:"cheese"`
	Shelf    int    `json:"shelf"`
	PlacedAt string `json:"placed_at"`
}

func init() {
	latchwork.Tool("Wheel.Place", latchwork.Spec{
		Description:     "Places a wheel of cheese on a shelf of the cellar and notes the time.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 7 * 24 * time.Hour,
	}, place).Verify(check).Compensate(takeBack)
}

func place(call *latchwork.Invocation, wheel Wheel) (Placed, error) {
	if wheel.Cheese == "" || wheel.Shelf < 1 || wheel.Shelf > 400 {
		return Placed{}, latchwork.Fail(latchwork.InvalidInput, "a cheese and a shelf from 1 to 400 are needed")
	}
	slog.Info("placing a wheel", "slot", call.Slot, "tries before", call.TriesBefore)
	name := "wheel/" + call.ExternalKey
	text, found, err := latchwork.KVGet(name)
	if err != nil {
		return Placed{}, err
	}
	if !found {
		// An earlier try keeps its time: the ripening began then.
		text, err = json.Marshal(Entry{wheel.Cheese, wheel.Shelf, time.Now().UTC().Format(time.RFC3339)})
		if err != nil {
			return Placed{}, err
		}
		if err := latchwork.KVSet(name, text); err != nil {
			return Placed{}, err
		}
	}
	var entry Entry
	if err := json.Unmarshal(text, &entry); err != nil {
		failure := latchwork.Fail(latchwork.SchemaValidationFailed, "%s is no wheel: %w", name, err)
		failure.Applied = latchwork.AppliedUnknown
		return Placed{}, failure
	}
	call.Receipt(map[string]string{"wheel": name})
	call.Changed(latchwork.Change{ResourceType: "wheel", ResourceID: name, Operation: "create", Version: string(text)})
	return Placed{name, entry.PlacedAt}, nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case change.Operation == "delete" && found:
		return "the wheel is back on its shelf", nil
	case change.Operation != "delete" && !found:
		return "the wheel is gone", nil
	case change.Operation != "delete" && string(text) != change.Version:
		return "the wheel was moved: " + string(text), nil
	}
	return "", nil
}

func takeBack(call *latchwork.Invocation, wheel Wheel, placed Placed) error {
	name := "wheel/" + call.ExternalKey
	text, found, err := latchwork.KVGet(name)
	if err != nil {
		return err
	}
	var entry Entry
	if !found || json.Unmarshal(text, &entry) != nil || entry != (Entry{wheel.Cheese, wheel.Shelf, placed.PlacedAt}) {
		return latchwork.Fail(latchwork.PolicyDenied, "the wheel was moved or taken")
	}
	existed, err := latchwork.KVDelete(name)
	if err != nil {
		return err
	}
	if !existed {
		return latchwork.Fail(latchwork.PolicyDenied, "the wheel was taken meanwhile")
	}
	call.Changed(latchwork.Change{ResourceType: "wheel", ResourceID: name, Operation: "delete"})
	return nil
}

func main() {}
