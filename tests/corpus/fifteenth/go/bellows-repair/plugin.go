package main

import (
	"encoding/json"
	"errors"

	"latchwork"
)

type Job struct {
	Workshop string `json:"workshop"`
	Owner    string `json:"owner"`
	Folds    int    `json:"folds"`
	Leather  string `json:"leather"`
}

type Ticket struct {
	Ticket string `json:"ticket"`
	Hours  int    `json:"hours"`
}

// hours has the work for one fold by the kind of leather.
var hours = map[string]int{"goat": 2, "kangaroo": 3, "sheep": 1}

func init() {
	latchwork.Tool("Bellows.Repair", latchwork.Spec{
		Description: "Opens a ticket for the repair of bellows.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, open)
}

// isClosed returns true if the workshop takes no work at present.
func isClosed(workshop string) (bool, error) {
	_, closed, err := latchwork.KVGet("closed " + workshop)
	var failure *latchwork.Failure
	if errors.As(err, &failure) {
		// Nothing was written yet, so the call may be executed again.
		failure.Applied = latchwork.AppliedNo
	}
	return closed, err
}

func open(call *latchwork.Invocation, job Job) (Ticket, error) {
	each, known := hours[job.Leather]
	if !known {
		return Ticket{}, latchwork.Fail(latchwork.InvalidInput, "there is no leather %q", job.Leather)
	}
	if job.Workshop == "" || job.Owner == "" || job.Folds < 1 || job.Folds > 60 {
		return Ticket{}, latchwork.Fail(latchwork.InvalidInput, "workshop, owner and 1 to 60 folds are needed")
	}
	ticket := Ticket{"ticket " + call.ExternalKey, 4 + each*job.Folds}

	// A later try of the call has its ticket already.
	if call.TriesBefore == 0 {
		closed, err := isClosed(job.Workshop)
		if err != nil {
			return Ticket{}, err
		}
		if closed {
			return Ticket{}, latchwork.Fail(latchwork.PolicyDenied, "the workshop %s is closed", job.Workshop)
		}
		text, err := json.Marshal(job)
		if err != nil {
			return Ticket{}, err
		}
		if err := latchwork.KVSet(ticket.Ticket, text); err != nil {
			return Ticket{}, err
		}
	}
	call.Changed(latchwork.Change{ResourceType: "ticket", ResourceID: ticket.Ticket, Operation: "create"})
	return ticket, nil
}

// main is empty: the host calls the operators.
func main() {}
