// Deposits of sketches in a print room: each deposit gets a random shelf mark and the time of its arrival.
package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"latchwork"
)

type Sketch struct {
	Artist string `json:"artist"`
	Title  string `json:"title"`
	Until  string `json:"accepted_until"`
}

type Entry struct {
	Sketch Sketch `json:"sketch"`
	Mark   string `json:"mark"`
	At     string `json:"at"`
}

type Deposit struct {
	Name string `json:"name"`
	Mark string `json:"mark"`
	At   string `json:"at"`
}

func init() {
	latchwork.Tool("Sketch.Deposit", latchwork.Spec{
		Description:     "Deposits a sketch in the print room.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 48 * time.Hour,
	}, deposit).Reconcile(find).Verify(check).Compensate(takeBack)
}

// read returns the entry of the call. An entry that cannot be read is no missing entry.
func read(name string) (entry Entry, found bool, err error) {
	value, found, err := latchwork.KVGet(name)
	if err != nil || !found {
		return Entry{}, false, err
	}
	if err := json.Unmarshal(value, &entry); err != nil {
		return Entry{}, false, latchwork.Fail(latchwork.DependencyUnavailable, "%s cannot be read: %w", name, err)
	}
	return entry, true, nil
}

func nameOf(call *latchwork.Invocation) string { return "sketch/" + call.ExternalKey }

func deposited(call *latchwork.Invocation, entry Entry) Deposit {
	made := Deposit{nameOf(call), entry.Mark, entry.At}
	call.Changed(latchwork.Change{ResourceType: "sketch", ResourceID: made.Name, Operation: "create", Version: entry.Mark + " " + entry.At})
	call.Receipt(made)
	return made
}

func deposit(call *latchwork.Invocation, sketch Sketch) (Deposit, error) {
	if sketch.Artist == "" || sketch.Title == "" || len(sketch.Artist)+len(sketch.Title) > 2000 {
		return Deposit{}, latchwork.Fail(latchwork.InvalidInput, "a sketch needs an artist and a title")
	}
	until, err := time.Parse(time.RFC3339, sketch.Until)
	if err != nil {
		return Deposit{}, latchwork.Fail(latchwork.InvalidInput, "accepted_until is no time: %s", sketch.Until)
	}
	if call.TriesBefore > 0 {
		slog.Info("repeated", "tries", call.TriesBefore, "attempt", call.Attempt)
	}
	entry, found, err := read(nameOf(call))
	if err != nil {
		return Deposit{}, err
	}
	if found {
		return deposited(call, entry), nil
	}
	now := time.Now().UTC()
	if now.After(until) {
		return Deposit{}, latchwork.Fail(latchwork.PolicyDenied, "the print room took sketches until %s", sketch.Until)
	}
	var mark [3]byte
	rand.Read(mark[:])
	entry = Entry{sketch, fmt.Sprintf("%X", mark), now.Format(time.RFC3339)}
	value, err := json.Marshal(entry)
	if err != nil {
		return Deposit{}, err
	}
	if err := latchwork.KVSet(nameOf(call), value); err != nil {
		return Deposit{}, err
	}
	return deposited(call, entry), nil
}

func find(call *latchwork.Invocation, _ Sketch) (latchwork.Verdict, error) {
	entry, found, err := read(nameOf(call))
	switch {
	case err != nil:
		return latchwork.Unknown, err
	case !found:
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(deposited(call, entry)), nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	entry, found, err := read(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the sketch is not in the room", nil
	case entry.Mark+" "+entry.At != change.Version:
		return "the sketch has the mark " + entry.Mark + " of " + entry.At, nil
	}
	return "", nil
}

func takeBack(call *latchwork.Invocation, _ Sketch, made Deposit) error {
	entry, found, err := read(nameOf(call))
	if err != nil {
		return err
	}
	if !found || entry.Mark != made.Mark || entry.At != made.At {
		return latchwork.Fail(latchwork.PolicyDenied, "%s was moved or removed", made.Name)
	}
	was, err := latchwork.KVDelete(nameOf(call))
	if err != nil {
		return err
	}
	if !was {
		return latchwork.Fail(latchwork.PolicyDenied, "%s was removed", made.Name)
	}
	call.Changed(latchwork.Change{ResourceType: "sketch", ResourceID: made.Name, Operation: "delete"})
	return nil
}

func main() {}
