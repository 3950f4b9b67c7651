package main

import (
	"encoding/json"
	"time"

	"latchwork"
)

type Entry struct {
	Account string `json:"account"`
	Cents   int64  `json:"cents"`
}

type Posted struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
}

func init() {
	latchwork.Tool("Ledger.Post", latchwork.Spec{
		Description:     "Posts an entry to the ledger, once for each key.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 24 * time.Hour,
	}, post)
}

type record struct {
	Entry
	At time.Time `json:"at"`
}

func posted(call *latchwork.Invocation, at time.Time) Posted {
	call.Changed(latchwork.Change{ResourceType: "entry", ResourceID: call.ExternalKey, Operation: "create"})
	return Posted{call.ExternalKey, at}
}

func post(call *latchwork.Invocation, entry Entry) (Posted, error) {
	key := "entry/" + call.ExternalKey
	stored, found, err := latchwork.KVGet(key)
	if err != nil {
		return Posted{}, err
	}
	if found {
		var earlier record
		if err := json.Unmarshal(stored, &earlier); err != nil {
			return Posted{}, err
		}
		return posted(call, earlier.At), nil
	}
	made := record{entry, time.Now().UTC()}
	text, err := json.Marshal(made)
	if err != nil {
		return Posted{}, err
	}
	if err := latchwork.KVSet(key, text); err != nil {
		return Posted{}, err
	}
	return posted(call, made.At), nil
}

// main is empty: the host calls the operators.
func main() {}
