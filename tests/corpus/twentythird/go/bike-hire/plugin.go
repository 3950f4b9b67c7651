// Hires of a bicycle shop. A hire is an entry named by the external key of its call, with the time of its start. The
// entry stays, so a repetition of the call finds it and keeps its time.
package main

import (
	"encoding/json"
	"time"

	"latchwork"
)

type order struct {
	Bike string `json:"bike"`
	Name string `json:"name"`
}

type hire struct {
	Bike  string `json:"bike"`
	Name  string `json:"name"`
	Start string `json:"start"`
}

type ticket struct {
	Hire  string `json:"hire"`
	Start string `json:"start"`
}

type ref struct {
	Hire string `json:"hire"`
}

type state struct {
	Bike  *string `json:"bike"`
	Start *string `json:"start"`
}

const (
	startInput = `{"type": "object", "required": ["bike", "name"], "additionalProperties": false, "properties": {
	"bike": {"type": "string", "pattern": "^[A-Z][0-9]{1,4}$"}, "name": {"type": "string", "minLength": 1, "maxLength": 100}}}`
	refInput = `{"type": "object", "required": ["hire"], "additionalProperties": false, "properties": {
	"hire": {"type": "string", "pattern": "^[A-Za-z0-9_:/~-]{1,128}$"}}}`
)

func init() {
	latchwork.Tool("Hire.Start", latchwork.Spec{Description: "Starts the hire of a bicycle.", Input: json.RawMessage(startInput),
		Effects: []latchwork.Effect{latchwork.InternalWrite}, IdempotentByKey: 48 * time.Hour}, start).Verify(check).Compensate(cancel)
	latchwork.Tool("Hire.State", latchwork.Spec{Description: "Shows bicycle and start of a hire.", Input: json.RawMessage(refInput)}, show)
}

// read returns a hire, or nil if there is none.
func read(key string) (*hire, error) {
	value, found, err := latchwork.KVGet("hire/" + key)
	if err != nil || !found {
		return nil, err
	}
	var one hire
	if err := json.Unmarshal(value, &one); err != nil {
		return nil, latchwork.Fail(latchwork.DependencyUnavailable, "the hire %s cannot be read: %w", key, err)
	}
	return &one, nil
}

func start(call *latchwork.Invocation, in order) (ticket, error) {
	one, err := read(call.ExternalKey)
	if err != nil {
		return ticket{}, err
	}
	if one == nil {
		one = &hire{in.Bike, in.Name, time.Now().UTC().Format(time.RFC3339)}
		value, _ := json.Marshal(one)
		if err := latchwork.KVSet("hire/"+call.ExternalKey, value); err != nil {
			return ticket{}, err
		}
	}
	call.Changed(latchwork.Change{ResourceType: "hire", ResourceID: call.ExternalKey, Operation: "create", Version: one.Start})
	return ticket{call.ExternalKey, one.Start}, nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	one, err := read(change.ResourceID)
	if err != nil || one != nil && one.Start == change.Version {
		return "", err
	}
	return "the hire is missing or has another start", nil
}

// cancel removes a hire that is still as the call has written it.
func cancel(call *latchwork.Invocation, in order, out ticket) error {
	one, err := read(call.ExternalKey)
	if err != nil || one == nil || *one != (hire{in.Bike, in.Name, out.Start}) {
		return latchwork.Fail(latchwork.PolicyDenied, "the hire was changed or removed, or cannot be read")
	}
	existed, err := latchwork.KVDelete("hire/" + call.ExternalKey)
	if err == nil && !existed {
		err = latchwork.Fail(latchwork.PolicyDenied, "the hire was removed")
	}
	call.Changed(latchwork.Change{ResourceType: "hire", ResourceID: call.ExternalKey, Operation: "delete"})
	return err
}

func show(_ *latchwork.Invocation, in ref) (state, error) {
	one, err := read(in.Hire)
	if err != nil || one == nil {
		return state{}, err
	}
	return state{&one.Bike, &one.Start}, nil
}

// main is empty: the host calls the operators.
func main() {}
