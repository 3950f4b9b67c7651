// Command cobbler-ticket opens repair tickets of a shoemaker.
package main

import (
	"encoding/json"
	"strings"

	"latchwork"
)

type Repair struct {
	Customer string   `json:"customer"`
	Pair     string   `json:"pair"`
	Works    []string `json:"works"`
}

type Ticket struct {
	ID    string `json:"id"`
	Cents int    `json:"cents"`
}

// prices has the price of each work in cents.
var prices = map[string]int{"heels": 1400, "soles": 4800, "stitching": 1900, "dye": 2200, "stretch": 900}

func init() {
	latchwork.Tool("Cobbler.Open", latchwork.Spec{
		Description: "Opens the repair ticket of a pair of shoes.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, open).Reconcile(find)
}

func open(call *latchwork.Invocation, repair Repair) (Ticket, error) {
	cents, err := price(repair)
	if err != nil {
		return Ticket{}, err
	}
	// A later try finds the ticket of the first try in place.
	if call.TriesBefore > 0 {
		return ticket(call, cents), nil
	}
	value, err := json.Marshal(repair)
	if err != nil {
		return Ticket{}, latchwork.Fail(latchwork.InvalidInput, "the repair cannot be stored: %w", err)
	}
	if err := latchwork.KVSet("ticket/"+call.ExternalKey, value); err != nil {
		return Ticket{}, err
	}
	return ticket(call, cents), nil
}

// price returns the price of all works. The whole repair is checked before anything is stored.
func price(repair Repair) (int, error) {
	if strings.TrimSpace(repair.Customer) == "" || strings.TrimSpace(repair.Pair) == "" {
		return 0, latchwork.Fail(latchwork.InvalidInput, "the customer or the pair is missing")
	}
	if len(repair.Works) == 0 || len(repair.Works) > 10 {
		return 0, latchwork.Fail(latchwork.InvalidInput, "a ticket has 1 to 10 works")
	}
	cents := 0
	for _, work := range repair.Works {
		one, known := prices[work]
		if !known {
			return 0, latchwork.Fail(latchwork.InvalidInput, "the work %q is not offered", work)
		}
		cents += one
	}
	return cents, nil
}

// find is called after a crash and looks for the ticket of the call.
func find(call *latchwork.Invocation, repair Repair) (latchwork.Verdict, error) {
	_, found, err := latchwork.KVGet("ticket/" + call.ExternalKey)
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	cents, err := price(repair)
	if err != nil {
		return latchwork.Unknown, err
	}
	return latchwork.Happened(ticket(call, cents)), nil
}

func ticket(call *latchwork.Invocation, cents int) Ticket {
	call.Changed(latchwork.Change{ResourceType: "ticket", ResourceID: call.ExternalKey, Operation: "create"})
	return Ticket{call.ExternalKey, cents}
}

// main is empty: the host calls the operators.
func main() {}
