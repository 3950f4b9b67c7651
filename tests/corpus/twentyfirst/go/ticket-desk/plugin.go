package main

import (
	"encoding/json"
	"strings"

	"latchwork"
)

type Ticket struct {
	Title string `json:"title"`
	Room  string `json:"room,omitempty"`
}

type Closing struct {
	Ticket string `json:"ticket"`
	Answer string `json:"answer"`
}

type State struct {
	Ticket string `json:"ticket"`
	Open   bool   `json:"open"`
}

type stored struct {
	Title  string `json:"title"`
	Room   string `json:"room"`
	Open   bool   `json:"open"`
	Answer string `json:"answer"`
}

func init() {
	writes := []latchwork.Effect{latchwork.InternalWrite}
	latchwork.Tool("Ticket.Open", latchwork.Spec{
		Description: "Opens a ticket of the help desk.",
		Effects:     writes,
	}, open).Verify(check)
	latchwork.Tool("Ticket.Close", latchwork.Spec{
		Description: "Closes a ticket with an answer.",
		Effects:     writes,
	}, closed).Verify(check)
}

func entry(id string) string { return "ticket/" + id }

func write(id string, ticket stored) (string, error) {
	value, err := json.Marshal(ticket)
	if err != nil {
		return "", err
	}
	return string(value), latchwork.KVSet(entry(id), value)
}

func open(call *latchwork.Invocation, in Ticket) (State, error) {
	title := strings.TrimSpace(in.Title)
	if title == "" || len(title) > 200 {
		return State{}, latchwork.Fail(latchwork.InvalidInput, "a title has 1 to 200 bytes")
	}
	version, err := write(call.ExternalKey, stored{Title: title, Room: in.Room, Open: true})
	if err != nil {
		return State{}, err
	}
	call.Changed(latchwork.Change{ResourceType: "ticket", ResourceID: call.ExternalKey, Operation: "create",
		Version: version})
	return State{call.ExternalKey, true}, nil
}

func closed(call *latchwork.Invocation, in Closing) (State, error) {
	value, found, err := latchwork.KVGet(entry(in.Ticket))
	if err != nil {
		return State{}, err
	}
	if !found {
		return State{}, latchwork.Fail(latchwork.InvalidInput, "no ticket %s", in.Ticket)
	}
	var ticket stored
	if err := json.Unmarshal(value, &ticket); err != nil {
		return State{}, latchwork.Fail(latchwork.PolicyDenied, "ticket %s: %w", in.Ticket, err)
	}
	if !ticket.Open {
		return State{}, latchwork.Fail(latchwork.PolicyDenied, "ticket %s is closed", in.Ticket)
	}
	ticket.Open, ticket.Answer = false, in.Answer
	version, err := write(in.Ticket, ticket)
	if err != nil {
		return State{}, err
	}
	call.Changed(latchwork.Change{ResourceType: "closing", ResourceID: in.Ticket, Operation: "update",
		Version: version})
	return State{in.Ticket, false}, nil
}

// check is called when a job is resumed.
func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	value, found, err := latchwork.KVGet(entry(change.ResourceID))
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the ticket is missing", nil
	case string(value) != change.Version:
		return "the ticket was changed", nil
	}
	return "", nil
}

// main is empty: the host calls the operators.
func main() {}
