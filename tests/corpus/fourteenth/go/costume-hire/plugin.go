// Command costume-hire keeps the hires of a theatre store. A repetition under the same key changes nothing more.
package main

import (
	"encoding/json"
	"log/slog"
	"strings"
	"time"

	"latchwork"
)

type Hire struct {
	Costume string `json:"costume"`
	Company string `json:"company"`
	Nights  int    `json:"nights"`
}

// Hired is the entry in the map and the result of the call.
type Hired struct {
	Costume string `json:"costume"`
	Company string `json:"company"`
	HiredAt string `json:"hired_at"`
	DueAt   string `json:"due_at"`
}

func init() {
	latchwork.Tool("Costume.Hire", latchwork.Spec{
		Description:     "Keeps the hire of a costume.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 48 * time.Hour,
	}, hire).Reconcile(find).Verify(check).Compensate(takeBack)
}

func hire(call *latchwork.Invocation, in Hire) (Hired, error) {
	if strings.TrimSpace(in.Costume) == "" || strings.TrimSpace(in.Company) == "" || len(in.Costume)+len(in.Company) > 2000 {
		return Hired{}, latchwork.Fail(latchwork.InvalidInput, "the costume or the company is missing or too long")
	}
	if in.Nights < 1 || in.Nights > 120 {
		return Hired{}, latchwork.Fail(latchwork.InvalidInput, "a hire has 1 to 120 nights")
	}
	slog.Info("hire", "tries_before", call.TriesBefore, "slot", call.Slot)
	stored, found, err := latchwork.KVGet("hire/" + call.ExternalKey)
	if err != nil {
		return Hired{}, err
	}
	if found {
		// An earlier try stored the hire. Its times stay as they are.
		return hired(call, stored)
	}
	now := time.Now().UTC()
	entry := Hired{in.Costume, in.Company, now.Format(time.RFC3339), now.AddDate(0, 0, in.Nights).Format(time.DateOnly)}
	value, err := json.Marshal(entry)
	if err != nil {
		return Hired{}, latchwork.Fail(latchwork.InvalidInput, "the hire cannot be stored: %w", err)
	}
	if err := latchwork.KVSet("hire/"+call.ExternalKey, value); err != nil {
		return Hired{}, err
	}
	return hired(call, value)
}

func find(call *latchwork.Invocation, _ Hire) (latchwork.Verdict, error) {
	stored, found, err := latchwork.KVGet("hire/" + call.ExternalKey)
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	result, err := hired(call, stored)
	return latchwork.Happened(result), err
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	stored, found, err := latchwork.KVGet("hire/" + change.ResourceID)
	if err == nil && (!found || string(stored) != change.Version) {
		return "the hire was changed or removed", nil
	}
	return "", err
}

// takeBack deletes the hire if it is still as the call left it.
func takeBack(call *latchwork.Invocation, _ Hire, result Hired) error {
	key := "hire/" + call.ExternalKey
	stored, found, err := latchwork.KVGet(key)
	if err != nil {
		return err
	}
	left, _ := json.Marshal(result)
	if !found || string(stored) != string(left) {
		return latchwork.Fail(latchwork.PolicyDenied, "the hire was changed or removed")
	}
	existed, err := latchwork.KVDelete(key)
	if err != nil {
		return err
	}
	if !existed {
		return latchwork.Fail(latchwork.PolicyDenied, "the hire was removed")
	}
	call.Changed(latchwork.Change{ResourceType: "hire", ResourceID: call.ExternalKey, Operation: "delete"})
	return nil
}

// hired makes the answer from the stored hire alone, for every try and every question.
func hired(call *latchwork.Invocation, stored []byte) (Hired, error) {
	var entry Hired
	if err := json.Unmarshal(stored, &entry); err != nil {
		failure := latchwork.Fail(latchwork.DependencyUnavailable, "the hire cannot be read: %w", err)
		failure.Applied = latchwork.AppliedUnknown
		return Hired{}, failure
	}
	call.Changed(latchwork.Change{
		ResourceType: "hire", ResourceID: call.ExternalKey, Operation: "create", Version: string(stored),
	})
	return entry, nil
}

// main is empty: the host calls the operators.
func main() {}
