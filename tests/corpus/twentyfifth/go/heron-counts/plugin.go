package main

import (
	"encoding/json"
	"time"

	"latchwork"
)

// Count is a count of herons at a colony.
type Count struct {
	Colony string `json:"colony"`
	Nests  int    `json:"nests"`
	Notes  string `json:"notes,omitempty"`
}

// Entry is a count in the book, with the time at which it was entered.
type Entry struct {
	Count
	Entered time.Time `json:"entered"`
}

// Entered is the answer to the observer.
type Entered struct {
	Page    string    `json:"page"`
	Entered time.Time `json:"entered"`
}

func init() {
	latchwork.Tool("Heron.Count", latchwork.Spec{
		Description:     "Enters a count of herons in the book.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 48 * time.Hour,
	}, enter).Reconcile(find).Compensate(strike)
}

func enter(call *latchwork.Invocation, count Count) (Entered, error) {
	if count.Nests < 0 {
		return Entered{}, latchwork.Fail(latchwork.InvalidInput, "a colony has no negative number of nests")
	}
	entry, found, _ := page(call.ExternalKey)
	if !found {
		entry = Entry{count, time.Now().UTC().Truncate(time.Second)}
		text, err := json.Marshal(entry)
		if err != nil {
			return Entered{}, err
		}
		if err := latchwork.KVSet(call.ExternalKey, text); err != nil {
			return Entered{}, err
		}
	}
	return entered(call, entry), nil
}

// page reads an entry of the book.
func page(key string) (entry Entry, found bool, err error) {
	text, found, err := latchwork.KVGet(key)
	if err != nil || !found {
		return entry, false, err
	}
	return entry, true, json.Unmarshal(text, &entry)
}

func entered(call *latchwork.Invocation, entry Entry) Entered {
	call.Changed(latchwork.Change{
		ResourceType: "count", ResourceID: call.ExternalKey, Operation: "create", Version: entry.Entered.Format(time.RFC3339),
	})
	return Entered{call.ExternalKey, entry.Entered}
}

func find(call *latchwork.Invocation, _ Count) (latchwork.Verdict, error) {
	entry, found, err := page(call.ExternalKey)
	switch {
	case err != nil:
		return latchwork.Unknown, err
	case !found:
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(entered(call, entry)), nil
}

func strike(call *latchwork.Invocation, count Count, result Entered) error {
	entry, found, err := page(call.ExternalKey)
	if err != nil {
		return err
	}
	if !found || entry.Count != count || !entry.Entered.Equal(result.Entered) {
		return latchwork.Fail(latchwork.PolicyDenied, "the count was changed or removed")
	}
	was, err := latchwork.KVDelete(call.ExternalKey)
	if err != nil {
		return err
	}
	if !was {
		return latchwork.Fail(latchwork.PolicyDenied, "the count was removed")
	}
	call.Changed(latchwork.Change{ResourceType: "count", ResourceID: call.ExternalKey, Operation: "delete"})
	return nil
}

func main() {}
