package main

import (
	"encoding/json"
	"time"

	"latchwork"
)

// Visit is a visit of a boat to the guest harbour.
type Visit struct {
	Boat   string  `json:"boat"`
	Berth  int     `json:"berth"`
	Nights int     `json:"nights"`
	Metres float64 `json:"metres"`
}

// Ticket is shown at the berth. The price is in cents.
type Ticket struct {
	Ticket string `json:"ticket"`
	Price  int64  `json:"price"`
	Since  int64  `json:"since"`
}

type record struct {
	Visit Visit `json:"visit"`
	Price int64 `json:"price"`
	Since int64 `json:"since"`
}

func init() {
	latchwork.Tool("BerthTicket.Issue", latchwork.Spec{
		Description:     "Issues the ticket of a boat for a guest berth.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 24 * time.Hour,
		Input: latchwork.Schema(`{
  "type": "object", "additionalProperties": false, "required": ["boat", "berth", "nights", "metres"],
  "properties": {
    "boat": {"type": "string", "minLength": 1, "maxLength": 80},
    "berth": {"type": "integer", "minimum": 1, "maximum": 240},
    "nights": {"type": "integer", "minimum": 1, "maximum": 30},
    "metres": {"type": "number", "minimum": 1, "maximum": 40}}}`),
	}, issue).Verify(check).Compensate(withdraw)
}

func entry(key string) string { return "ticket/" + key }

// load returns the record of a ticket, or nil if there is none.
func load(id string) (*record, error) {
	text, found, err := latchwork.KVGet(id)
	if err != nil || !found {
		return nil, err
	}
	ticket := &record{}
	if err := json.Unmarshal(text, ticket); err != nil {
		return nil, latchwork.Fail(latchwork.DependencyUnavailable, "the entry %s is no ticket: %w", id, err)
	}
	return ticket, nil
}

func price(visit Visit) int64 {
	perNight := int64(1800)
	if visit.Metres > 8 {
		perNight += int64((visit.Metres - 8) * 150)
	}
	return perNight * int64(visit.Nights)
}

func issue(call *latchwork.Invocation, visit Visit) (Ticket, error) {
	id := entry(call.ExternalKey)
	earlier, err := load(id)
	if err != nil {
		return Ticket{}, err
	}
	if earlier != nil {
		// The call is repeated. The boat keeps the ticket that it got at first.
		return Ticket{id, earlier.Price, earlier.Since}, nil
	}
	made := record{visit, price(visit), time.Now().Unix()}
	text, _ := json.Marshal(made) // finite numbers and texts are always JSON
	if err := latchwork.KVSet(id, text); err != nil {
		return Ticket{}, err
	}
	call.Changed(latchwork.Change{ResourceType: "berth-ticket", ResourceID: id, Operation: "create", Version: visit.Boat})
	return Ticket{id, made.Price, made.Since}, nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	ticket, err := load(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case ticket == nil:
		return "the ticket is missing", nil
	case ticket.Visit.Boat != change.Version:
		return "the ticket has another boat", nil
	}
	return "", nil
}

// withdraw removes a ticket that no one has changed since.
func withdraw(call *latchwork.Invocation, visit Visit, given Ticket) error {
	id := entry(call.ExternalKey)
	ticket, err := load(id)
	if err != nil {
		return err
	}
	if ticket == nil || *ticket != (record{visit, given.Price, given.Since}) {
		return latchwork.Fail(latchwork.PolicyDenied, "the ticket was changed or removed")
	}
	if there, err := latchwork.KVDelete(id); err != nil {
		return err
	} else if !there {
		return latchwork.Fail(latchwork.PolicyDenied, "the ticket was removed")
	}
	call.Changed(latchwork.Change{ResourceType: "berth-ticket", ResourceID: id, Operation: "delete"})
	return nil
}

func main() {}
