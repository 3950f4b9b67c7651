// Command foal-register keeps the entries of newborn foals in the register of a breed.
package main

import (
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"time"

	"latchwork"
)

type Foal struct {
	Name string `json:"name"`
	Mare string `json:"mare"`
	Sire string `json:"sire,omitempty"`
	Coat string `json:"coat"`
}

// Entry is a foal in the register, with the time of the registration.
type Entry struct {
	Number     string `json:"number"`
	Name       string `json:"name"`
	Parents    string `json:"parents"`
	Coat       string `json:"coat"`
	Registered string `json:"registered"`
}

var coats = []string{"bay", "black", "chestnut", "dun", "gray", "palomino", "roan"}

func init() {
	latchwork.Tool("Foal.Register", latchwork.Spec{
		Description:     "Registers a newborn foal.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 48 * time.Hour,
	}, register).Reconcile(find)
}

func register(call *latchwork.Invocation, foal Foal) (Entry, error) {
	if err := check(foal); err != nil {
		return Entry{}, err
	}
	// A repetition returns the entry of the first try, with its time.
	text, found, err := latchwork.KVGet(name(call))
	if err != nil {
		slog.Warn("no earlier entry", "key", name(call), "reason", err)
	}
	if found {
		var entry Entry
		if err := json.Unmarshal(text, &entry); err != nil {
			return Entry{}, err
		}
		return registered(call, entry), nil
	}

	parents := foal.Mare + " by an unknown sire"
	if foal.Sire != "" {
		parents = foal.Mare + " by " + foal.Sire
	}
	entry := Entry{call.ExternalKey, foal.Name, parents, foal.Coat, time.Now().UTC().Format(time.RFC3339)}
	made, err := json.Marshal(entry)
	if err != nil {
		return Entry{}, err
	}
	if err := latchwork.KVSet(name(call), made); err != nil {
		return Entry{}, err
	}
	return registered(call, entry), nil
}

func check(foal Foal) error {
	for _, text := range []string{foal.Name, foal.Mare} {
		if strings.TrimSpace(text) == "" || len(text) > 200 {
			return latchwork.Fail(latchwork.InvalidInput, "foal and mare have names of 1 to 200 bytes")
		}
	}
	if len(foal.Sire) > 200 {
		return latchwork.Fail(latchwork.InvalidInput, "the sire has a name of at most 200 bytes")
	}
	if !slices.Contains(coats, foal.Coat) {
		return latchwork.Fail(latchwork.InvalidInput, "%s is no coat of the register", foal.Coat)
	}
	return nil
}

// find is called when a repetition is not possible any more. It looks for the entry of the call.
func find(call *latchwork.Invocation, _ Foal) (latchwork.Verdict, error) {
	text, found, err := latchwork.KVGet(name(call))
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	var entry Entry
	if err := json.Unmarshal(text, &entry); err != nil {
		return latchwork.Unknown, err
	}
	return latchwork.Happened(registered(call, entry)), nil
}

func registered(call *latchwork.Invocation, entry Entry) Entry {
	call.Changed(latchwork.Change{
		ResourceType: "foal", ResourceID: name(call), Operation: "create", Version: entry.Registered,
	})
	return entry
}

func name(call *latchwork.Invocation) string { return "foal/" + call.ExternalKey }

// main is empty: the host calls the operators.
func main() {}
