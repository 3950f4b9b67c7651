// Command pawn-pledge takes pledges of a pawn shop into its book.
package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"latchwork"
)

// Pledge has the value of the pledge in cents.
type Pledge struct {
	Object string `json:"object"`
	Owner  string `json:"owner"`
	Value  int    `json:"value_cents"`
}

type Taken struct {
	Pledge string `json:"pledge"`
	Lent   int    `json:"lent_cents"`
	Shelf  string `json:"shelf"`
}

func init() {
	latchwork.Tool("Pawn.Take", latchwork.Spec{
		Description: "Takes a pledge into the book of a pawn shop.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, take).Reconcile(find)
}

func take(call *latchwork.Invocation, pledge Pledge) (Taken, error) {
	pledge.Object, pledge.Owner = strings.TrimSpace(pledge.Object), strings.TrimSpace(pledge.Owner)
	if pledge.Object == "" || pledge.Owner == "" || len(pledge.Object)+len(pledge.Owner) > 2000 {
		return Taken{}, latchwork.Fail(latchwork.InvalidInput, "the object or the owner is missing or too long")
	}
	if pledge.Value < 500 || pledge.Value > 100_000_000 {
		return Taken{}, latchwork.Fail(latchwork.InvalidInput, "a pledge has a value of 5 to 1,000,000 euros")
	}
	value, err := json.Marshal(pledge)
	if err != nil {
		return Taken{}, latchwork.Fail(latchwork.InvalidInput, "the pledge cannot be stored: %w", err)
	}
	if err := latchwork.KVSet(entry(call), value); err != nil {
		return Taken{}, err
	}
	made := taken(call, pledge.Value)
	// The slip for the owner is printed from the receipt.
	call.Receipt(map[string]any{
		"slip":  fmt.Sprintf("%s for %s", pledge.Object, pledge.Owner),
		"cents": made.Lent,
	})
	return made, nil
}

// find is called after a crash and looks for the pledge of the call.
func find(call *latchwork.Invocation, pledge Pledge) (latchwork.Verdict, error) {
	_, found, err := latchwork.KVGet(entry(call))
	switch {
	case err != nil:
		return latchwork.Unknown, err
	case !found:
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(taken(call, pledge.Value)), nil
}

func entry(call *latchwork.Invocation) string { return "pledge/" + call.ExternalKey }

// taken records the change and returns the result of the call.
func taken(call *latchwork.Invocation, cents int) Taken {
	call.Changed(latchwork.Change{ResourceType: "pledge", ResourceID: call.ExternalKey, Operation: "create"})
	shelf := "open shelf"
	if cents >= 200_000 {
		shelf = "safe"
	}
	return Taken{call.ExternalKey, lent(cents), shelf}
}

// lent returns the loan: 60 percent of the value, and 40 percent of what is above 1,000 euros.
func lent(cents int) int {
	const step = 100_000
	if cents <= step {
		return cents * 60 / 100
	}
	return step*60/100 + (cents-step)*40/100
}

// main is empty: the host calls the operators.
func main() {}
