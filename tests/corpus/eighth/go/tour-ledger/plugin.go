package main

import (
	"errors"
	"strconv"

	"latchwork"
)

type Tour struct {
	Guide  string `json:"guide"`
	Guests int    `json:"guests"`
}

type Kept struct {
	Tour string `json:"tour"`
}

func init() {
	latchwork.Tool("Tour.Keep", latchwork.Spec{
		Description: "Keeps a tour: its text first, then the entry that makes it visible.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, keep).Reconcile(find).Verify(check).Compensate(takeBack)
}

func textOf(tour Tour) string { return tour.Guide + " with " + strconv.Itoa(tour.Guests) }

func keep(call *latchwork.Invocation, tour Tour) (Kept, error) {
	if tour.Guide == "" || tour.Guests < 1 {
		return Kept{}, latchwork.Fail(latchwork.InvalidInput, "a guide and guests are required")
	}
	// No operator reads the text before the entry is there.
	if err := latchwork.KVSet("text/"+call.ExternalKey, []byte(textOf(tour))); err != nil {
		return Kept{}, unknown(err)
	}
	if err := latchwork.KVSet("tour/"+call.ExternalKey, []byte("text/"+call.ExternalKey)); err != nil {
		return Kept{}, unknown(err)
	}
	return kept(call, tour), nil
}

// unknown marks an error after the first write.
func unknown(err error) error {
	var failure *latchwork.Failure
	if errors.As(err, &failure) {
		failure.Applied = latchwork.AppliedUnknown
	}
	return err
}

func kept(call *latchwork.Invocation, tour Tour) Kept {
	call.Changed(latchwork.Change{ResourceType: "tour", ResourceID: "tour/" + call.ExternalKey, Operation: "create", Version: textOf(tour)})
	return Kept{"tour/" + call.ExternalKey}
}

func find(call *latchwork.Invocation, tour Tour) (latchwork.Verdict, error) {
	_, found, err := latchwork.KVGet("tour/" + call.ExternalKey)
	switch {
	case err != nil:
		return latchwork.Unknown, err
	case !found:
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(kept(call, tour)), nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	entry, found, err := latchwork.KVGet(change.ResourceID)
	if err != nil {
		return "", err
	}
	if !found {
		return "the tour is missing", nil
	}
	text, _, err := latchwork.KVGet(string(entry))
	if err != nil {
		return "", err
	}
	if string(text) != change.Version {
		return "the tour has another text", nil
	}
	return "", nil
}

func takeBack(call *latchwork.Invocation, tour Tour, _ Kept) error {
	text, _, err := latchwork.KVGet("text/" + call.ExternalKey)
	if err != nil {
		return err
	}
	if string(text) != textOf(tour) {
		return latchwork.Fail(latchwork.PolicyDenied, "the tour was changed or removed")
	}
	gone, err := latchwork.KVDelete("tour/" + call.ExternalKey)
	if err != nil {
		return unknown(err)
	}
	if !gone {
		return latchwork.Fail(latchwork.PolicyDenied, "the tour was removed")
	}
	if _, err := latchwork.KVDelete("text/" + call.ExternalKey); err != nil {
		return unknown(err)
	}
	call.Changed(latchwork.Change{ResourceType: "tour", ResourceID: "tour/" + call.ExternalKey, Operation: "delete"})
	return nil
}

func main() {}
