package main

import (
	"encoding/json"
	"time"

	"latchwork"
)

type Vessel struct {
	Vessel   string `json:"vessel"`
	Upstream bool   `json:"upstream"`
}

type Passage struct {
	Vessel   string `json:"vessel"`
	Upstream bool   `json:"upstream"`
	BookedAt string `json:"booked_at"`
}

func init() {
	latchwork.Tool("Passage.Book", latchwork.Spec{
		Description:     "Books the passage of a vessel through the lock.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 72 * time.Hour, // An entry is never overwritten or removed, except by an undo.
	}, book).Reconcile(find).Verify(check).Compensate(cancel)
}

func book(call *latchwork.Invocation, vessel Vessel) (Passage, error) {
	if vessel.Vessel == "" || len(vessel.Vessel) > 200 {
		return Passage{}, latchwork.Fail(latchwork.InvalidInput, "the name of the vessel has 1 to 200 bytes")
	}
	// An earlier try may have booked already: its time stays.
	passage, found, err := load(call.ExternalKey)
	if err != nil {
		return Passage{}, err
	}
	if !found {
		passage = Passage{vessel.Vessel, vessel.Upstream, time.Now().UTC().Format(time.RFC3339)}
		if err := latchwork.KVSet(call.ExternalKey, text(passage)); err != nil {
			return Passage{}, err
		}
	}
	return booked(call, passage), nil
}

func booked(call *latchwork.Invocation, passage Passage) Passage {
	call.Changed(latchwork.Change{
		ResourceType: "passage", ResourceID: call.ExternalKey, Operation: "create", Version: string(text(passage)),
	})
	call.Receipt(map[string]string{"passage": call.ExternalKey, "booked_at": passage.BookedAt})
	return passage
}

func find(call *latchwork.Invocation, _ Vessel) (latchwork.Verdict, error) {
	passage, found, err := load(call.ExternalKey)
	switch {
	case err != nil:
		return latchwork.Unknown, err
	case !found:
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(booked(call, passage)), nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	kept, found, err := latchwork.KVGet(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the passage is not booked", nil
	case string(kept) != change.Version:
		return "the passage is " + string(kept), nil
	}
	return "", nil
}

func cancel(call *latchwork.Invocation, _ Vessel, passage Passage) error {
	kept, found, err := load(call.ExternalKey)
	if err != nil {
		return err
	}
	if !found || kept != passage {
		return latchwork.Fail(latchwork.PolicyDenied, "the passage was changed or cancelled")
	}
	was, err := latchwork.KVDelete(call.ExternalKey)
	if err != nil {
		return err
	}
	if !was {
		return latchwork.Fail(latchwork.PolicyDenied, "the passage was cancelled by another party")
	}
	call.Changed(latchwork.Change{ResourceType: "passage", ResourceID: call.ExternalKey, Operation: "delete"})
	return nil
}

func load(key string) (passage Passage, found bool, err error) {
	kept, found, err := latchwork.KVGet(key)
	if err == nil && found {
		err = json.Unmarshal(kept, &passage)
	}
	return passage, found, err
}

func text(passage Passage) []byte {
	made, _ := json.Marshal(passage) // Strings and a boolean have no error.
	return made
}

func main() {}
