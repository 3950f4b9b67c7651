package main

import (
	"encoding/json"
	"strings"
	"time"

	"latchwork"
)

// Request is a request for a permit to dig in a street.
type Request struct {
	Street string `json:"street"`
	Firm   string `json:"firm"`
	Days   int    `json:"days"`
}

// Permit is the answer of the office.
type Permit struct {
	Permit  string    `json:"permit"`
	FiledAt time.Time `json:"filed_at"`
	Days    int       `json:"days"`
}

// record is the entry of a permit in the register.
type record struct {
	Street string `json:"street"`
	Firm   string `json:"firm"`
	Days   int    `json:"days"`
	Filed  int64  `json:"filed"`
}

func init() {
	latchwork.Tool("DigPermit.File", latchwork.Spec{
		Description: "Files a permit to dig in a street.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
		Input: latchwork.Schema(`{
  "type": "object", "additionalProperties": false, "required": ["street", "firm", "days"],
  "properties": {
    "street": {"type": "string", "minLength": 1, "maxLength": 100},
    "firm": {"type": "string", "minLength": 1, "maxLength": 100},
    "days": {"type": "integer", "minimum": 1, "maximum": 365}}}`),
	}, file).Reconcile(find).Verify(check)
}

func entry(key string) string { return "permit/" + key }

func file(call *latchwork.Invocation, request Request) (Permit, error) {
	street := strings.Join(strings.Fields(request.Street), " ")
	firm := strings.Join(strings.Fields(request.Firm), " ")
	if street == "" || firm == "" {
		return Permit{}, latchwork.Fail(latchwork.InvalidInput, "street or firm is blank")
	}
	now := time.Now().UTC()
	text, err := json.Marshal(record{street, firm, request.Days, now.Unix()})
	if err != nil {
		return Permit{}, latchwork.Fail(latchwork.InvalidInput, "the request is not JSON: %w", err)
	}
	if err := latchwork.KVSet(entry(call.ExternalKey), text); err != nil {
		return Permit{}, err
	}
	return filed(call, now, request.Days), nil
}

// filed makes the answer of a call and records its change.
func filed(call *latchwork.Invocation, at time.Time, days int) Permit {
	id := entry(call.ExternalKey)
	call.Receipt(map[string]any{"permit": id, "until": at.AddDate(0, 0, days).Format(time.DateOnly)})
	call.Changed(latchwork.Change{ResourceType: "dig-permit", ResourceID: id, Operation: "create"})
	return Permit{id, at, days}
}

// read returns a permit of the register, or nil if it has none.
func read(id string) (*record, error) {
	text, found, err := latchwork.KVGet(id)
	if err != nil || !found {
		return nil, err
	}
	permit := &record{}
	if err := json.Unmarshal(text, permit); err != nil {
		return nil, latchwork.Fail(latchwork.DependencyUnavailable, "the entry %s is no permit: %w", id, err)
	}
	return permit, nil
}

// find is called after a crash. The register has the time at which the permit was filed.
func find(call *latchwork.Invocation, _ Request) (latchwork.Verdict, error) {
	permit, err := read(entry(call.ExternalKey))
	if err != nil {
		return latchwork.Unknown, err
	}
	if permit == nil {
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(filed(call, time.Unix(permit.Filed, 0).UTC(), permit.Days)), nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	permit, err := read(change.ResourceID)
	if err != nil {
		return "", err
	}
	if permit == nil {
		return "the permit is not in the register", nil
	}
	return "", nil
}

func main() {}
