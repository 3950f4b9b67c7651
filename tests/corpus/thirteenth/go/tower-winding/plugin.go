// Command tower-winding keeps the book of a tower clock: who wound it, and how wrong it was.
package main

import (
	"encoding/json"
	"errors"
	"time"

	"latchwork"
)

type Winding struct {
	Keeper       string `json:"keeper"`
	Turns        int    `json:"turns"`
	ErrorSeconds int    `json:"error_seconds"`
}

type Entry struct {
	Number string `json:"number"`
	At     string `json:"at"`
}

type stored struct {
	Keeper string `json:"keeper"`
	Turns  int    `json:"turns"`
	At     string `json:"at"`
}

func init() {
	latchwork.Tool("Tower.Wind", latchwork.Spec{
		Description:     "Enters a winding of the tower clock and the error of the clock.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 48 * time.Hour,
	}, enter).Compensate(strike)
}

func names(key string) (reading, winding string) { return "reading/" + key, "winding/" + key }

func reading(w Winding) []byte {
	value, _ := json.Marshal(map[string]int{"error_seconds": w.ErrorSeconds})
	return value
}

func enter(call *latchwork.Invocation, w Winding) (Entry, error) {
	if w.Keeper == "" || len(w.Keeper) > 200 || w.Turns < 1 || w.Turns > 500 || w.ErrorSeconds < -7200 || w.ErrorSeconds > 7200 {
		return Entry{}, latchwork.Fail(latchwork.InvalidInput, "keeper, turns or error out of range")
	}
	readingName, windingName := names(call.ExternalKey)
	entry, found, err := load(windingName)
	if err != nil {
		return Entry{}, err
	}
	if !found {
		entry = stored{w.Keeper, w.Turns, time.Now().UTC().Format(time.RFC3339)}
		value, err := json.Marshal(entry)
		if err != nil {
			return Entry{}, err
		}
		if err := latchwork.KVSet(readingName, reading(w)); err != nil {
			return Entry{}, err
		}
		// The winding is written last. If it is there, the reading is there, too.
		if err := latchwork.KVSet(windingName, value); err != nil {
			return Entry{}, unknown(err)
		}
	}
	call.Changed(latchwork.Change{ResourceType: "reading", ResourceID: readingName, Operation: "create"})
	call.Changed(latchwork.Change{ResourceType: "winding", ResourceID: windingName, Operation: "create", Version: entry.At})
	return Entry{call.ExternalKey, entry.At}, nil
}

func load(name string) (entry stored, found bool, err error) {
	value, found, err := latchwork.KVGet(name)
	if err != nil || !found {
		return entry, false, err
	}
	if json.Unmarshal(value, &entry) != nil {
		return entry, false, latchwork.Fail(latchwork.DependencyUnavailable, "the entry cannot be read")
	}
	return entry, true, nil
}

// strike removes both entries, if they have not changed since.
func strike(call *latchwork.Invocation, w Winding, result Entry) error {
	readingName, windingName := names(call.ExternalKey)
	entry, found, err := load(windingName)
	if err != nil {
		return err
	}
	old, there, err := latchwork.KVGet(readingName)
	if err != nil {
		return err
	}
	if !found || !there || entry != (stored{w.Keeper, w.Turns, result.At}) || string(old) != string(reading(w)) {
		return latchwork.Fail(latchwork.PolicyDenied, "the entry of %s was changed or removed", result.At)
	}
	if was, err := latchwork.KVDelete(windingName); err != nil {
		return err
	} else if !was {
		return latchwork.Fail(latchwork.PolicyDenied, "the winding is gone")
	}
	if was, err := latchwork.KVDelete(readingName); err != nil {
		return unknown(err)
	} else if !was {
		return unknown(latchwork.Fail(latchwork.PolicyDenied, "the winding was removed, but the reading is gone"))
	}
	call.Changed(latchwork.Change{ResourceType: "winding", ResourceID: windingName, Operation: "delete"})
	call.Changed(latchwork.Change{ResourceType: "reading", ResourceID: readingName, Operation: "delete"})
	return nil
}

func unknown(err error) error {
	var failure *latchwork.Failure
	if errors.As(err, &failure) {
		failure.Applied = latchwork.AppliedUnknown
	}
	return err
}

func main() {}
