// Takes in coats: one entry for each coat, named by the key of the call and the number of the coat. The last entry is
// the ticket, which makes the call visible. A repetition writes the same entries again.
package main

import (
	"errors"
	"fmt"
	"strings"

	"latchwork"
)

type Coats struct {
	Coats []string `json:"coats"`
}

type Ticket struct {
	Ticket string `json:"ticket"`
	Coats  int    `json:"coats"`
}

func init() {
	latchwork.Tool("Coat.Take", latchwork.Spec{
		Description:     "Takes in coats.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 7 * 86400 * 1e9,
	}, take).Verify(check)
}

func take(call *latchwork.Invocation, coats Coats) (Ticket, error) {
	if len(coats.Coats) == 0 || len(coats.Coats) > 30 {
		return Ticket{}, latchwork.Fail(latchwork.InvalidInput, "1 to 30 coats, please")
	}
	// Equal coats are written once. The map is only asked, and its order is not used.
	seen := map[string]bool{}
	kept := []string{}
	for _, coat := range coats.Coats {
		if len(coat) > 100 {
			return Ticket{}, latchwork.Fail(latchwork.InvalidInput, "the description of a coat is too long")
		}
		if !seen[coat] {
			seen[coat] = true
			kept = append(kept, coat)
		}
	}
	for i, coat := range kept {
		if err := latchwork.KVSet(fmt.Sprintf("coat/%s/%d", call.ExternalKey, i), []byte(coat)); err != nil {
			return Ticket{}, began(err, i > 0)
		}
	}
	ticket, text := "ticket/"+call.ExternalKey, strings.Join(kept, "\n")
	if err := latchwork.KVSet(ticket, []byte(text)); err != nil {
		return Ticket{}, began(err, true)
	}
	call.Changed(latchwork.Change{ResourceType: "ticket", ResourceID: ticket, Operation: "create", Version: text})
	return Ticket{ticket, len(kept)}, nil
}

// began marks an error after the first write.
func began(err error, written bool) error {
	var failure *latchwork.Failure
	if written && errors.As(err, &failure) {
		failure.Applied = latchwork.AppliedUnknown
	}
	return err
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the ticket is missing", nil
	case string(text) != change.Version:
		return "the ticket has other coats", nil
	}
	return "", nil
}

// main is empty: the host calls the operators.
func main() {}
