// Notes the arrival of a car at the valet with the present time. The tool is asked about a call and never repeated
// before the answer, so that the time of the entry is that of the one try that wrote it.
package main

import (
	"encoding/json"
	"time"

	"latchwork"
)

type Car struct {
	Plate string `json:"plate"`
}

type Ticket struct {
	Plate   string `json:"plate"`
	Arrived string `json:"arrived"`
}

func init() {
	latchwork.Tool("Valet.Arrive", latchwork.Spec{
		Description: "Notes the arrival of a car.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, arrive).Reconcile(find).Verify(check).Compensate(takeBack)
}

func arrive(call *latchwork.Invocation, car Car) (Ticket, error) {
	if car.Plate == "" || len(car.Plate) > 20 {
		return Ticket{}, latchwork.Fail(latchwork.InvalidInput, "the plate is empty or too long")
	}
	ticket := Ticket{car.Plate, time.Now().UTC().Format(time.RFC3339)}
	text, err := json.Marshal(ticket)
	if err != nil {
		return Ticket{}, latchwork.Fail(latchwork.InvalidInput, "the plate cannot be written: %w", err)
	}
	if err := latchwork.KVSet(call.ExternalKey, text); err != nil {
		return Ticket{}, err
	}
	return given(call, ticket, string(text)), nil
}

// find is called after a crash and finds out whether the call happened.
func find(call *latchwork.Invocation, _ Car) (latchwork.Verdict, error) {
	text, found, err := latchwork.KVGet(call.ExternalKey)
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	var ticket Ticket
	if json.Unmarshal(text, &ticket) != nil {
		return latchwork.Unknown, nil
	}
	return latchwork.Happened(given(call, ticket, string(text))), nil
}

// check is called when a job is resumed. It returns "" if the change is still in place.
func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the ticket is missing", nil
	case string(text) != change.Version:
		return "the ticket has another text", nil
	}
	return "", nil
}

// takeBack is called when the job is cancelled or undone.
func takeBack(call *latchwork.Invocation, _ Car, ticket Ticket) error {
	text, found, err := latchwork.KVGet(call.ExternalKey)
	if err != nil {
		return err
	}
	var now Ticket
	if !found || json.Unmarshal(text, &now) != nil || now != ticket {
		return latchwork.Fail(latchwork.PolicyDenied, "the ticket was changed or removed")
	}
	if _, err := latchwork.KVDelete(call.ExternalKey); err != nil {
		return err
	}
	call.Changed(latchwork.Change{ResourceType: "ticket", ResourceID: call.ExternalKey, Operation: "delete"})
	return nil
}

func given(call *latchwork.Invocation, ticket Ticket, text string) Ticket {
	call.Changed(latchwork.Change{
		ResourceType: "ticket", ResourceID: call.ExternalKey, Operation: "create", Version: text,
	})
	return ticket
}

// main is empty: the host calls the operators.
func main() {}
