package main

import (
	"encoding/json"
	"time"

	"latchwork"
)

type Request struct {
	Invoice  string `json:"invoice"`
	Approver string `json:"approver"`
}

type Stamp struct {
	Approver string `json:"approver"`
	At       string `json:"at"`
}

type Stamped struct {
	Invoice string `json:"invoice"`
	Stamp
}

func init() {
	latchwork.Tool("Stamp.Set", latchwork.Spec{
		Description: "Stamps an invoice as approved. A later stamp replaces an earlier one.",
		Input: latchwork.Schema(`{"type":"object","required":["invoice","approver"],"additionalProperties":false,"properties":{
			"invoice":{"type":"string","pattern":"^[A-Z]{2}-[0-9]{1,9}$"},"approver":{"type":"string","minLength":1,"maxLength":200}}}`),
		Output: latchwork.Schema(`{"type":"object","required":["invoice","approver","at"],"additionalProperties":false,"properties":{
			"invoice":{"type":"string"},"approver":{"type":"string"},"at":{"type":"string"}}}`),
		Effects: []latchwork.Effect{latchwork.InternalWrite},
	}, set).Reconcile(find)
}

func entry(invoice string) string { return "stamp/" + invoice }

func set(call *latchwork.Invocation, request Request) (Stamped, error) {
	stamp := Stamp{request.Approver, time.Now().UTC().Format(time.RFC3339)}
	value, err := json.Marshal(stamp)
	if err != nil {
		return Stamped{}, err
	}
	if err := latchwork.KVSet(entry(request.Invoice), value); err != nil {
		return Stamped{}, err
	}
	return stamped(call, request.Invoice, stamp), nil
}

// find looks for the stamp on the invoice.
func find(call *latchwork.Invocation, request Request) (latchwork.Verdict, error) {
	value, found, err := latchwork.KVGet(entry(request.Invoice))
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	var stamp Stamp
	if err := json.Unmarshal(value, &stamp); err != nil {
		return latchwork.Unknown, latchwork.Fail(latchwork.DependencyUnavailable, "the stamp of %s cannot be read: %w", request.Invoice, err)
	}
	return latchwork.Happened(stamped(call, request.Invoice, stamp)), nil
}

func stamped(call *latchwork.Invocation, invoice string, stamp Stamp) Stamped {
	call.Changed(latchwork.Change{ResourceType: "stamp", ResourceID: invoice, Operation: "set", Version: stamp.Approver + " " + stamp.At})
	return Stamped{invoice, stamp}
}

func main() {}
