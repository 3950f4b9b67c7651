// Issues backstage passes for a concert hall. Each pass is an entry of the map, named by the key of its call.
package main

import (
	"encoding/json"
	"strings"
	"time"

	"latchwork"
)

type request struct {
	Event string   `json:"event"`
	Name  string   `json:"name"`
	Areas []string `json:"areas"`
}

type pass struct {
	Event    string    `json:"event"`
	Name     string    `json:"name"`
	Areas    []string  `json:"areas"`
	IssuedAt time.Time `json:"issued_at"`
}

type issued struct {
	Pass string `json:"pass"`
}

const input = `{"type": "object", "required": ["event", "name", "areas"], "additionalProperties": false, "properties": {
	"event": {"type": "string", "pattern": "^[a-z0-9-]{1,40}$"},
	"name": {"type": "string", "maxLength": 100},
	"areas": {"type": "array", "minItems": 1, "maxItems": 5, "uniqueItems": true, "items": {"enum": ["stage", "catering", "lighting", "press", "garage"]}}}}`

func init() {
	latchwork.Tool("Pass.Issue", latchwork.Spec{
		Description:     "Issues a backstage pass.",
		Input:           json.RawMessage(input),
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 24 * time.Hour,
	}, issue).Verify(check).Compensate(withdraw)
}

func entry(key string) string { return "pass/" + key }

func issue(call *latchwork.Invocation, in request) (issued, error) {
	if strings.TrimSpace(in.Name) == "" {
		return issued{}, latchwork.Fail(latchwork.InvalidInput, "the pass has no name")
	}
	// The first try stores the pass with its time. A later try must not replace this time.
	if call.TriesBefore == 0 {
		value, err := json.Marshal(pass{in.Event, in.Name, in.Areas, time.Now().UTC()})
		if err != nil {
			return issued{}, latchwork.Fail(latchwork.InvalidInput, "the pass cannot be written: %w", err)
		}
		if err := latchwork.KVSet(entry(call.ExternalKey), value); err != nil {
			return issued{}, err
		}
	}
	call.Changed(latchwork.Change{ResourceType: "pass", ResourceID: call.ExternalKey, Operation: "create", Version: in.Name})
	return issued{call.ExternalKey}, nil
}

// read returns the pass of a key, or nil if there is none.
func read(key string) (*pass, error) {
	value, found, err := latchwork.KVGet(entry(key))
	if err != nil || !found {
		return nil, err
	}
	var stored pass
	if err := json.Unmarshal(value, &stored); err != nil {
		return nil, latchwork.Fail(latchwork.DependencyUnavailable, "the pass %s cannot be read: %w", key, err)
	}
	return &stored, nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	stored, err := read(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case stored == nil:
		return "the pass is not in the list", nil
	case stored.Name != change.Version:
		return "the pass has another name", nil
	}
	return "", nil
}

func withdraw(call *latchwork.Invocation, in request, _ issued) error {
	stored, err := read(call.ExternalKey)
	if err != nil {
		return latchwork.Fail(latchwork.PolicyDenied, "the pass cannot be checked: %w", err)
	}
	if stored == nil || stored.Name != in.Name || stored.Event != in.Event {
		return latchwork.Fail(latchwork.PolicyDenied, "the pass was changed or removed")
	}
	existed, err := latchwork.KVDelete(entry(call.ExternalKey))
	if err != nil {
		return err
	}
	if !existed {
		return latchwork.Fail(latchwork.PolicyDenied, "the pass was removed")
	}
	call.Changed(latchwork.Change{ResourceType: "pass", ResourceID: call.ExternalKey, Operation: "delete"})
	return nil
}

// main is empty: the host calls the operators.
func main() {}
