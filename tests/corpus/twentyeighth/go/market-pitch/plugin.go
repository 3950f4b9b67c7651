// Claims of pitches on a street market. An offer of the office is open until a time; a claim is kept with the time at
// which it was made.
package main

import (
	"encoding/json"
	"time"

	"latchwork"
)

type Claim struct {
	Pitch     string `json:"pitch"`
	Trader    string `json:"trader"`
	OpenUntil string `json:"open_until"`
}

type Entry struct {
	Pitch  string `json:"pitch"`
	Trader string `json:"trader"`
	At     string `json:"at"`
}

type Claimed struct {
	Claim string `json:"claim"`
	At    string `json:"at"`
}

func init() {
	latchwork.Tool("Pitch.Claim", latchwork.Spec{
		Description:     "Claims a pitch for a trader while the offer is open.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 24 * time.Hour,
	}, claim).Verify(check)
}

func claimed(call *latchwork.Invocation, name string, entry Entry) Claimed {
	call.Changed(latchwork.Change{ResourceType: "claim", ResourceID: name, Operation: "create", Version: entry.At})
	return Claimed{name, entry.At}
}

func claim(call *latchwork.Invocation, wanted Claim) (Claimed, error) {
	if wanted.Pitch == "" || wanted.Trader == "" {
		return Claimed{}, latchwork.Fail(latchwork.InvalidInput, "a claim needs a pitch and a trader")
	}
	until, err := time.Parse(time.RFC3339, wanted.OpenUntil)
	if err != nil {
		return Claimed{}, latchwork.Fail(latchwork.InvalidInput, "open_until is no time: %s", wanted.OpenUntil)
	}
	now := time.Now().UTC()
	if now.After(until) {
		return Claimed{}, latchwork.Fail(latchwork.PolicyDenied, "the offer of %s ended at %s", wanted.Pitch, wanted.OpenUntil)
	}

	// A repetition finds the claim and keeps its time.
	name := "claim/" + call.ExternalKey
	value, found, err := latchwork.KVGet(name)
	if err != nil {
		return Claimed{}, err
	}
	if found {
		var entry Entry
		if err := json.Unmarshal(value, &entry); err != nil {
			return Claimed{}, latchwork.Fail(latchwork.DependencyUnavailable, "%s cannot be read: %w", name, err)
		}
		return claimed(call, name, entry), nil
	}
	entry := Entry{wanted.Pitch, wanted.Trader, now.Format(time.RFC3339)}
	value, err = json.Marshal(entry)
	if err != nil {
		return Claimed{}, err
	}
	if err := latchwork.KVSet(name, value); err != nil {
		return Claimed{}, err
	}
	return claimed(call, name, entry), nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	value, found, err := latchwork.KVGet(change.ResourceID)
	if err != nil {
		return "", err
	}
	if !found {
		return "the claim is missing", nil
	}
	var entry Entry
	if err := json.Unmarshal(value, &entry); err != nil {
		return "", err
	}
	if entry.At != change.Version {
		return "the claim was made at " + entry.At, nil
	}
	return "", nil
}

func main() {}
