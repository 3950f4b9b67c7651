package main

import (
	"encoding/json"
	"time"

	"latchwork"
)

type Note struct {
	Text string `json:"text"`
}

type Kept struct {
	Key string `json:"key"`
}

func init() {
	latchwork.Tool("{{Noun}}.Keep", latchwork.Spec{
		Description: "Keeps a note under the key of its call.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, keep).Reconcile(find)
}

func keep(call *latchwork.Invocation, note Note) (Kept, error) {
	value, err := json.Marshal(map[string]any{"text": note.Text, "at": time.Now()})
	if err != nil {
		return Kept{}, err
	}
	if err := latchwork.KVSet(call.ExternalKey, value); err != nil {
		return Kept{}, err
	}
	return kept(call), nil
}

// find is called after a crash and finds out whether the call happened.
func find(call *latchwork.Invocation, _ Note) (latchwork.Verdict, error) {
	_, found, err := latchwork.KVGet(call.ExternalKey)
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(kept(call)), nil
}

func kept(call *latchwork.Invocation) Kept {
	call.Changed(latchwork.Change{ResourceType: "note", ResourceID: call.ExternalKey, Operation: "create"})
	return Kept{call.ExternalKey}
}

// main is empty: the host calls the operators.
func main() {}
