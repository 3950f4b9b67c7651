// Records inspections of street trees. An inspection is one entry of the map, named by the key of its call.
package main

import (
	"encoding/json"
	"strings"
	"time"

	"latchwork"
)

type finding struct {
	Tree   string `json:"tree"`
	Vital  int    `json:"vitality"`
	Notes  string `json:"notes,omitempty"`
	Urgent bool   `json:"urgent,omitempty"`
}

// entry is what the map holds. The time is that of the call, and is read from here ever after.
type entry struct {
	Finding    finding `json:"finding"`
	RecordedAt string  `json:"recorded_at"`
}

type recorded struct {
	Inspection string `json:"inspection"`
	RecordedAt string `json:"recorded_at"`
	NextInDays int    `json:"next_in_days"`
}

const input = `{"type": "object", "required": ["tree", "vitality"], "additionalProperties": false, "properties": {
	"tree": {"type": "string", "pattern": "^[A-Z]{1,3}-[0-9]{1,6}$"},
	"vitality": {"type": "integer", "minimum": 0, "maximum": 4},
	"notes": {"type": "string", "maxLength": 4000}, "urgent": {"type": "boolean"}}}`

func init() {
	latchwork.Tool("Tree.Inspect", latchwork.Spec{
		Description: "Records the inspection of a tree.",
		Input:       json.RawMessage(input),
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, inspect).Reconcile(find).Verify(check).Compensate(remove)
}

func name(key string) string { return "inspection/" + key }

// answer makes the output of a call from its entry: in the call itself and after a lost answer.
func answer(call *latchwork.Invocation, one entry) recorded {
	days := []int{365, 365, 180, 90, 30}[one.Finding.Vital]
	if one.Finding.Urgent {
		days = min(days, 14)
	}
	call.Changed(latchwork.Change{ResourceType: "inspection", ResourceID: call.ExternalKey, Operation: "create", Version: one.RecordedAt})
	call.Receipt(map[string]string{"tree": one.Finding.Tree, "recorded_at": one.RecordedAt})
	return recorded{call.ExternalKey, one.RecordedAt, days}
}

func inspect(call *latchwork.Invocation, in finding) (recorded, error) {
	if in.Urgent && strings.TrimSpace(in.Notes) == "" {
		return recorded{}, latchwork.Fail(latchwork.InvalidInput, "an urgent finding needs notes")
	}
	one := entry{in, time.Now().UTC().Format(time.RFC3339Nano)}
	value, err := json.Marshal(one)
	if err != nil {
		return recorded{}, latchwork.Fail(latchwork.InvalidInput, "the inspection cannot be written: %w", err)
	}
	if err := latchwork.KVSet(name(call.ExternalKey), value); err != nil {
		return recorded{}, err
	}
	return answer(call, one), nil
}

// read returns the entry of an inspection, or nil if there is none.
func read(key string) (*entry, error) {
	value, found, err := latchwork.KVGet(name(key))
	if err != nil || !found {
		return nil, err
	}
	var one entry
	if err := json.Unmarshal(value, &one); err != nil || one.Finding.Vital < 0 || one.Finding.Vital > 4 {
		return nil, latchwork.Fail(latchwork.DependencyUnavailable, "the inspection %s cannot be read", key)
	}
	return &one, nil
}

// find answers what happened to a call without an answer. A missing entry proves that the call wrote nothing: no
// operator removes an entry, and a compensation follows only after an answer.
func find(call *latchwork.Invocation, _ finding) (latchwork.Verdict, error) {
	one, err := read(call.ExternalKey)
	if err != nil {
		return latchwork.Unknown, err
	}
	if one == nil {
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(answer(call, *one)), nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	one, err := read(change.ResourceID)
	if err != nil || one != nil && one.RecordedAt == change.Version {
		return "", err
	}
	return "the inspection is missing or has another time", nil
}

func remove(call *latchwork.Invocation, in finding, out recorded) error {
	one, err := read(call.ExternalKey)
	if err != nil || one == nil || one.Finding != in || one.RecordedAt != out.RecordedAt {
		return latchwork.Fail(latchwork.PolicyDenied, "the inspection was changed, or cannot be read")
	}
	existed, err := latchwork.KVDelete(name(call.ExternalKey))
	if err == nil && !existed {
		err = latchwork.Fail(latchwork.PolicyDenied, "the inspection was removed")
	}
	call.Changed(latchwork.Change{ResourceType: "inspection", ResourceID: call.ExternalKey, Operation: "delete"})
	return err
}

// main is empty: the host calls the operators.
func main() {}
