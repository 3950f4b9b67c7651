// Command evidence-bag keeps the seals of evidence bags.
package main

import (
	"encoding/json"
	"strings"
	"time"

	"latchwork"
)

type Bag struct {
	Case    string `json:"case"`
	Item    string `json:"item"`
	Officer string `json:"officer"`
}

// Sealed is the protocol of a seal, as the plan gets it.
type Sealed struct {
	Seal     string    `json:"seal"`
	Case     string    `json:"case"`
	Item     string    `json:"item"`
	SealedAt time.Time `json:"sealed_at"`
}

// entry is the protocol as the map keeps it.
type entry struct {
	Case     string `json:"case"`
	Item     string `json:"item"`
	Officer  string `json:"officer"`
	SealedAt string `json:"sealed_at"`
}

func init() {
	latchwork.Tool("Evidence.Seal", latchwork.Spec{
		Description: "Keeps the seal of an evidence bag.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, seal).Reconcile(find)
}

func seal(call *latchwork.Invocation, bag Bag) (Sealed, error) {
	for _, text := range []string{bag.Case, bag.Item, bag.Officer} {
		if strings.TrimSpace(text) == "" || len(text) > 400 {
			return Sealed{}, latchwork.Fail(latchwork.InvalidInput, "case, item and officer have 1 to 400 bytes")
		}
	}
	at := time.Now().UTC()
	text, err := json.Marshal(entry{bag.Case, bag.Item, bag.Officer, at.Format(time.RFC3339)})
	if err != nil {
		return Sealed{}, err
	}
	if err := latchwork.KVSet(name(call), text); err != nil {
		return Sealed{}, err
	}
	return sealed(call, bag, at), nil
}

// find is called after a crash. It reads the protocol that the call has written.
func find(call *latchwork.Invocation, bag Bag) (latchwork.Verdict, error) {
	text, found, err := latchwork.KVGet(name(call))
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	var kept entry
	if err := json.Unmarshal(text, &kept); err != nil {
		return latchwork.Unknown, err
	}
	at, err := time.Parse(time.RFC3339, kept.SealedAt)
	if err != nil {
		return latchwork.Unknown, err
	}
	return latchwork.Happened(sealed(call, bag, at)), nil
}

// sealed reports the change and returns the protocol.
func sealed(call *latchwork.Invocation, bag Bag, at time.Time) Sealed {
	call.Changed(latchwork.Change{ResourceType: "seal", ResourceID: name(call), Operation: "create"})
	return Sealed{Seal: call.ExternalKey, Case: bag.Case, Item: bag.Item, SealedAt: at}
}

// name returns the name of the entry of a call.
func name(call *latchwork.Invocation) string { return "seal/" + call.ExternalKey }

// main is empty: the host calls the operators.
func main() {}
