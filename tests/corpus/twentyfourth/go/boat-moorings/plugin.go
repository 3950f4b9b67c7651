package main

import (
	"latchwork"
)

type Berth struct {
	Boat  string `json:"boat"`
	Berth string `json:"berth"`
}

type Moored struct {
	Boat  string `json:"boat"`
	Berth string `json:"berth"`
}

const input = `{"type":"object","required":["boat","berth"],"additionalProperties":false,"properties":{
	"boat":{"type":"string","minLength":1,"maxLength":60},"berth":{"type":"string","pattern":"^[A-Z][0-9]{1,3}$"}}}`

const output = `{"type":"object","required":["boat","berth"],"additionalProperties":false,"properties":{
	"boat":{"type":"string"},"berth":{"type":"string"}}}`

func init() {
	latchwork.Tool("Boat.Moor", latchwork.Spec{
		Description: "Notes the berth of a boat that arrives.",
		Input:       latchwork.Schema(input),
		Output:      latchwork.Schema(output),
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, moor).Verify(inspect)
	latchwork.Tool("Boat.Shift", latchwork.Spec{
		Description: "Notes the new berth of a boat that is in the harbour.",
		Input:       latchwork.Schema(input),
		Output:      latchwork.Schema(output),
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, shift).Verify(inspectShift)
}

func entry(boat string) string { return "boat/" + boat }

func moor(call *latchwork.Invocation, berth Berth) (Moored, error) {
	if err := latchwork.KVSet(entry(berth.Boat), []byte(berth.Berth)); err != nil {
		return Moored{}, err
	}
	call.Changed(latchwork.Change{ResourceType: "boat", ResourceID: berth.Boat, Operation: "set", Version: berth.Berth})
	return Moored(berth), nil
}

func shift(call *latchwork.Invocation, berth Berth) (Moored, error) {
	_, found, err := latchwork.KVGet(entry(berth.Boat))
	if err != nil {
		return Moored{}, err
	}
	if !found {
		return Moored{}, latchwork.Fail(latchwork.PolicyDenied, "%s is not in the harbour", berth.Boat)
	}
	if err := latchwork.KVSet(entry(berth.Boat), []byte(berth.Berth)); err != nil {
		return Moored{}, err
	}
	call.Changed(latchwork.Change{
		ResourceType: "shift", ResourceID: call.ExternalKey, Operation: "update", Version: berth.Berth, ExternalRef: berth.Boat,
	})
	return Moored(berth), nil
}

func compare(boat, berth string) (string, error) {
	found, known, err := latchwork.KVGet(entry(boat))
	switch {
	case err != nil:
		return "", err
	case !known:
		return "the boat is not in the harbour", nil
	case string(found) != berth:
		return "the boat is at " + string(found), nil
	}
	return "", nil
}

func inspect(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	return compare(change.ResourceID, change.Version)
}

func inspectShift(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	return compare(change.ExternalRef, change.Version)
}

func main() {}
