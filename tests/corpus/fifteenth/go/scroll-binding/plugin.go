package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"latchwork"
)

type Scroll struct {
	Title  string   `json:"title"`
	Leaves []string `json:"leaves"`
}

type Bound struct {
	Scroll string `json:"scroll"`
	Leaves int    `json:"leaves"`
}

const (
	maxLeaves = 50
	maxLength = 8000
)

func init() {
	latchwork.Tool("Scroll.Bind", latchwork.Spec{
		Description: "Stores a scroll with its leaves in the library.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, bind).Reconcile(find).Compensate(unbind)
}

func headName(call *latchwork.Invocation) string { return "scroll " + call.ExternalKey }
func leafName(call *latchwork.Invocation, place int) string {
	return fmt.Sprintf("leaf %s %d", call.ExternalKey, place)
}

func head(scroll Scroll) string {
	text, _ := json.Marshal(map[string]any{"title": scroll.Title, "leaves": len(scroll.Leaves)})
	return string(text)
}

// bound returns the result of the call, and records its change.
func bound(call *latchwork.Invocation, scroll Scroll) Bound {
	call.Changed(latchwork.Change{ResourceType: "scroll", ResourceID: headName(call), Operation: "create", Version: head(scroll)})
	return Bound{headName(call), len(scroll.Leaves)}
}

// inDoubt marks an error after which an earlier write of the call may remain.
func inDoubt(err error) error {
	var failure *latchwork.Failure
	if errors.As(err, &failure) {
		failure.Applied = latchwork.AppliedUnknown
	}
	return err
}

func bind(call *latchwork.Invocation, scroll Scroll) (Bound, error) {
	if scroll.Title == "" || len(scroll.Title) > 500 || len(scroll.Leaves) == 0 || len(scroll.Leaves) > maxLeaves {
		return Bound{}, latchwork.Fail(latchwork.InvalidInput, "a scroll has a title and 1 to %d leaves", maxLeaves)
	}
	for i, leaf := range scroll.Leaves {
		if len(leaf) > maxLength {
			return Bound{}, latchwork.Fail(latchwork.InvalidInput, "leaf %d is too long", i+1)
		}
	}
	// No reader takes a leaf without its head for a scroll. The last write makes the call visible.
	for i, leaf := range scroll.Leaves {
		if err := latchwork.KVSet(leafName(call, i), []byte(leaf)); err != nil {
			return Bound{}, inDoubt(err)
		}
	}
	if err := latchwork.KVSet(headName(call), []byte(head(scroll))); err != nil {
		return Bound{}, inDoubt(err)
	}
	return bound(call, scroll), nil
}

func find(call *latchwork.Invocation, scroll Scroll) (latchwork.Verdict, error) {
	_, found, err := latchwork.KVGet(headName(call))
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(bound(call, scroll)), nil
}

// unbind removes the head first, so that no reader finds a scroll with missing leaves.
func unbind(call *latchwork.Invocation, scroll Scroll, _ Bound) error {
	text, found, err := latchwork.KVGet(headName(call))
	if err != nil {
		return err
	}
	if !found || string(text) != head(scroll) {
		return latchwork.Fail(latchwork.PolicyDenied, "the scroll was removed or changed")
	}
	was, err := latchwork.KVDelete(headName(call))
	if err != nil {
		return err
	}
	if !was {
		return latchwork.Fail(latchwork.PolicyDenied, "the scroll was removed")
	}
	for i := range scroll.Leaves {
		was, err := latchwork.KVDelete(leafName(call, i))
		if err == nil && !was {
			err = latchwork.Fail(latchwork.PolicyDenied, "leaf %d is missing", i+1)
		}
		if err != nil {
			return inDoubt(err)
		}
	}
	call.Changed(latchwork.Change{ResourceType: "scroll", ResourceID: headName(call), Operation: "delete"})
	return nil
}

// main is empty: the host calls the operators.
func main() {}
