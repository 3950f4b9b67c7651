// Package main issues the tickets of an ice rink. The gate looks a ticket up by its number, which is not to be guessed, so
// the number is drawn.
package main

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"latchwork"
)

type Order struct {
	Session string `json:"session"`
	Skates  int    `json:"skates,omitempty"`
	Name    string `json:"name"`
}

type Ticket struct {
	Number  string `json:"number"`
	Session string `json:"session"`
	Skates  int    `json:"skates"`
	Name    string `json:"name"`
}

type Asked struct {
	Number string `json:"number"`
}

func init() {
	latchwork.Tool("Ticket.Issue", latchwork.Spec{
		Description: "Issues a ticket for a session.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
		// The number of a call is kept under its key: a repetition gets the same ticket.
		IdempotentByKey: 48 * time.Hour,
	}, issue)
	latchwork.Tool("Ticket.Look", latchwork.Spec{
		Description: "Looks a ticket up by its number.",
	}, look)
}

func issue(call *latchwork.Invocation, order Order) (Ticket, error) {
	if order.Session == "" || order.Name == "" || len(order.Name) > 200 || len(order.Session) > 100 {
		return Ticket{}, latchwork.Fail(latchwork.InvalidInput, "session or name is missing or too long")
	}
	if order.Skates < 0 || order.Skates > 50 {
		return Ticket{}, latchwork.Fail(latchwork.InvalidInput, "skates are sizes up to 50")
	}

	number, issued, err := latchwork.KVGet("issued/" + call.ExternalKey)
	if err != nil {
		return Ticket{}, err
	}
	if issued {
		return done(call, Ticket{string(number), order.Session, order.Skates, order.Name}), nil
	}

	var drawn [5]byte
	rand.Read(drawn[:])
	ticket := Ticket{hex.EncodeToString(drawn[:]), order.Session, order.Skates, order.Name}
	entry, err := json.Marshal(ticket)
	if err != nil {
		return Ticket{}, latchwork.Fail(latchwork.InvalidInput, "the ticket cannot be kept: %w", err)
	}
	// The ticket first: a number that is noted for a call always has its ticket.
	if err := latchwork.KVSet("ticket/"+ticket.Number, entry); err != nil {
		return Ticket{}, err
	}
	if err := latchwork.KVSet("issued/"+call.ExternalKey, []byte(ticket.Number)); err != nil {
		return Ticket{}, inDoubt(err)
	}
	return done(call, ticket), nil
}

func done(call *latchwork.Invocation, ticket Ticket) Ticket {
	call.Receipt(map[string]string{"ticket": ticket.Number})
	call.Changed(latchwork.Change{ResourceType: "ticket", ResourceID: ticket.Number, Operation: "create"})
	return ticket
}

// inDoubt marks an error that follows the first entry.
func inDoubt(err error) error {
	var failure *latchwork.Failure
	if errors.As(err, &failure) {
		failure.Applied = latchwork.AppliedUnknown
	}
	return err
}

func look(_ *latchwork.Invocation, asked Asked) (Ticket, error) {
	entry, found, err := latchwork.KVGet("ticket/" + asked.Number)
	if err != nil {
		return Ticket{}, err
	}
	if !found {
		return Ticket{}, latchwork.Fail(latchwork.MissingRequiredContext, "there is no ticket %s", asked.Number)
	}
	var ticket Ticket
	if err := json.Unmarshal(entry, &ticket); err != nil {
		return Ticket{}, latchwork.Fail(latchwork.MissingRequiredContext, "ticket %s cannot be read: %w", asked.Number, err)
	}
	return ticket, nil
}

// main is empty: the host calls the operators.
func main() {}
