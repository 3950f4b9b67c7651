// Loom-evenings keeps the evenings that members of a weaving studio have put their names down for.
package main

import (
	"encoding/json"
	"time"

	"latchwork"
)

type Evening struct {
	Member string `json:"member"`
	Loom   string `json:"loom"`
	Date   string `json:"date"`
}

type Entry struct {
	Evening
	PutDown int64 `json:"put_down"`
}

type Booked struct {
	Booking string `json:"booking"`
	PutDown int64  `json:"put_down"`
}

func init() {
	latchwork.Tool("Loom.PutDown", latchwork.Spec{
		Description:     "Puts a member down for an evening at a loom.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		Determinism:     latchwork.External,
		IdempotentByKey: 48 * time.Hour,
		Input: latchwork.Schema(`{"type":"object","properties":{
			"member":{"type":"string","minLength":1,"maxLength":80},
			"loom":{"enum":["countermarch","jack","rigid heddle","table"]},
			"date":{"type":"string","pattern":"^20[0-9]{2}-[01][0-9]-[0-3][0-9]$"}},
			"required":["member","loom","date"],"additionalProperties":false}`),
	}, putDown).Verify(check)
}

func name(key string) string { return "evening/" + key }

func read(key string) (Entry, bool, error) {
	var entry Entry
	text, found, err := latchwork.KVGet(name(key))
	if err != nil || !found {
		return entry, false, err
	}
	if err := json.Unmarshal(text, &entry); err != nil {
		return entry, false, latchwork.Fail(latchwork.DependencyUnavailable, "entry %s is damaged: %w", name(key), err)
	}
	return entry, true, nil
}

func putDown(call *latchwork.Invocation, evening Evening) (Booked, error) {
	if _, err := time.Parse(time.DateOnly, evening.Date); err != nil {
		return Booked{}, latchwork.Fail(latchwork.InvalidInput, "%s is no day", evening.Date)
	}
	// The time of the first try decides who is first in the list, so a later try keeps it.
	entry, found, err := read(call.ExternalKey)
	if err != nil {
		return Booked{}, err
	}
	if found {
		return Booked{Booking: call.ExternalKey, PutDown: entry.PutDown}, nil
	}

	entry = Entry{Evening: evening, PutDown: time.Now().Unix()}
	text, err := json.Marshal(entry)
	if err != nil {
		return Booked{}, err
	}
	if err := latchwork.KVSet(name(call.ExternalKey), text); err != nil {
		return Booked{}, err
	}
	call.Changed(latchwork.Change{ResourceType: "loom evening", ResourceID: call.ExternalKey, Operation: "create", Version: string(text)})
	return Booked{Booking: call.ExternalKey, PutDown: entry.PutDown}, nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(name(change.ResourceID))
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the evening is no longer in the list", nil
	case string(text) != change.Version:
		return "the evening has another entry", nil
	}
	return "", nil
}

func main() {}
