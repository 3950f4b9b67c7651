// The key book of a swimming hall: each handing out of a locker key is an entry of its own.
package main

import (
	"encoding/json"
	"errors"
	"time"

	"latchwork"
)

type Handout struct {
	Locker int    `json:"locker"`
	Guest  string `json:"guest"`
}

type Entry struct {
	Locker int    `json:"locker"`
	Guest  string `json:"guest"`
	At     string `json:"at"`
}

type Noted struct {
	Entry  string `json:"entry"`
	Locker int    `json:"locker"`
	At     string `json:"at"`
}

func init() {
	latchwork.Tool("LockerKey.HandOut", latchwork.Spec{
		Description: "Notes that the key of a locker was handed out.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, handOut).Reconcile(find)
}

func name(call *latchwork.Invocation) string { return "handout/" + call.ExternalKey }

func noted(call *latchwork.Invocation, entry Entry) Noted {
	call.Changed(latchwork.Change{ResourceType: "handout", ResourceID: name(call), Operation: "create", Version: entry.At})
	return Noted{name(call), entry.Locker, entry.At}
}

func handOut(call *latchwork.Invocation, handout Handout) (Noted, error) {
	if handout.Locker < 1 || handout.Locker > 480 {
		return Noted{}, latchwork.Fail(latchwork.InvalidInput, "there is no locker %d", handout.Locker)
	}
	if handout.Guest == "" || len(handout.Guest) > 500 {
		return Noted{}, latchwork.Fail(latchwork.InvalidInput, "locker %d: the guest has no name", handout.Locker)
	}
	entry := Entry{handout.Locker, handout.Guest, time.Now().UTC().Format(time.RFC3339)}
	value, err := json.Marshal(entry)
	if err != nil {
		return Noted{}, err
	}
	if err := latchwork.KVSet(name(call), value); err != nil {
		return Noted{}, busy(err)
	}
	return noted(call, entry), nil
}

// busy gives the failure of the key book a code with which the host tries again: at the rush hour the store is locked
// for moments. A missing grant or a value that is too large stays as it is.
func busy(err error) error {
	var failure *latchwork.Failure
	if errors.As(err, &failure) && failure.Code == latchwork.DependencyUnavailable {
		locked := latchwork.Fail(latchwork.TransientDBLock, "the key book is busy: %w", err)
		locked.RetryAfter = 2 * time.Second
		return locked
	}
	return err
}

func find(call *latchwork.Invocation, _ Handout) (latchwork.Verdict, error) {
	value, found, err := latchwork.KVGet(name(call))
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	var entry Entry
	if err := json.Unmarshal(value, &entry); err != nil {
		return latchwork.Unknown, err
	}
	return latchwork.Happened(noted(call, entry)), nil
}

func main() {}
