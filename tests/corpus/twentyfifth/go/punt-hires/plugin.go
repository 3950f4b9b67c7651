package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/big"
	"time"

	"latchwork"
)

// Hire is a hire of a punt. The chain of the punt opens with a number that is drawn for the hire.
type Hire struct {
	Punt  string `json:"punt"`
	Guest string `json:"guest"`
	Until string `json:"until"`
}

// Ticket is what the guest gets.
type Ticket struct {
	Ticket string `json:"ticket"`
	Number string `json:"number"`
}

type line struct {
	Punt   string    `json:"punt"`
	Guest  string    `json:"guest"`
	Until  string    `json:"until"`
	Number string    `json:"number"`
	At     time.Time `json:"at"`
}

func init() {
	latchwork.Tool("Punt.Hire", latchwork.Spec{
		Description:     "Notes the hire of a punt and draws the number of its chain.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 24 * time.Hour,
		Input: latchwork.Schema(`{"type":"object","required":["punt","guest","until"],"additionalProperties":false,"properties":{
			"punt":{"type":"string","minLength":1,"maxLength":60},"guest":{"type":"string","minLength":1,"maxLength":200},
			"until":{"type":"string","pattern":"^20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]Z$"}}}`),
	}, hire).Reconcile(find).Verify(check).Compensate(giveBack)
}

func hire(call *latchwork.Invocation, wanted Hire) (Ticket, error) {
	text, found, err := latchwork.KVGet(call.ExternalKey)
	if err != nil {
		return Ticket{}, err
	}
	if found {
		return noted(call, text)
	}
	until, err := time.Parse(time.RFC3339, wanted.Until)
	if err != nil {
		return Ticket{}, latchwork.Fail(latchwork.InvalidInput, "there is no time %s", wanted.Until)
	}
	now := time.Now().UTC()
	if !until.After(now) {
		return Ticket{}, latchwork.Fail(latchwork.InvalidInput, "the hire would end before it begins")
	}
	number, err := rand.Int(rand.Reader, big.NewInt(10000))
	if err != nil {
		return Ticket{}, err
	}
	text, err = json.Marshal(line{wanted.Punt, wanted.Guest, wanted.Until, fmt.Sprintf("%04d", number), now})
	if err != nil {
		return Ticket{}, err
	}
	if err := latchwork.KVSet(call.ExternalKey, text); err != nil {
		return Ticket{}, err
	}
	return noted(call, text)
}

// noted makes the ticket of a line of the book.
func noted(call *latchwork.Invocation, text []byte) (Ticket, error) {
	var found line
	if err := json.Unmarshal(text, &found); err != nil {
		failure := latchwork.Fail(latchwork.DependencyUnavailable, "the line of the hire cannot be read: %w", err)
		failure.Applied = latchwork.AppliedUnknown
		return Ticket{}, failure
	}
	call.Changed(latchwork.Change{ResourceType: "hire", ResourceID: call.ExternalKey, Operation: "create", Version: version(text)})
	return Ticket{call.ExternalKey, found.Number}, nil
}

func version(text []byte) string {
	sum := fnv.New64a()
	sum.Write(text)
	return fmt.Sprintf("%016x", sum.Sum64())
}

func find(call *latchwork.Invocation, _ Hire) (latchwork.Verdict, error) {
	text, found, err := latchwork.KVGet(call.ExternalKey)
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	ticket, err := noted(call, text)
	if err != nil {
		return latchwork.Unknown, err
	}
	return latchwork.Happened(ticket), nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the book has no such hire", nil
	case version(text) != change.Version:
		return "the hire has another line", nil
	}
	return "", nil
}

func giveBack(call *latchwork.Invocation, wanted Hire, ticket Ticket) error {
	text, found, err := latchwork.KVGet(call.ExternalKey)
	if err != nil {
		return err
	}
	var known line
	if !found || json.Unmarshal(text, &known) != nil || known.Punt != wanted.Punt || known.Guest != wanted.Guest ||
		known.Until != wanted.Until || known.Number != ticket.Number {
		return latchwork.Fail(latchwork.PolicyDenied, "the hire was changed or removed")
	}
	was, err := latchwork.KVDelete(call.ExternalKey)
	if err != nil {
		return err
	}
	if !was {
		return latchwork.Fail(latchwork.PolicyDenied, "the hire was removed")
	}
	call.Changed(latchwork.Change{ResourceType: "hire", ResourceID: call.ExternalKey, Operation: "delete"})
	return nil
}

func main() {}
