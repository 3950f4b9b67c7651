// Command mushroom-find keeps the finds that visitors of a mycological society bring in.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"latchwork"
)

type Find struct {
	Species string `json:"species"`
	Wood    string `json:"wood"`
	Grams   int    `json:"grams"`
}

type Ticket struct {
	Ticket string `json:"ticket"`
	Number string `json:"number"`
}

type kept struct {
	Find   Find   `json:"find"`
	Ticket string `json:"ticket"`
	At     string `json:"at"`
}

func init() {
	latchwork.Tool("Mushroom.Bring", latchwork.Spec{
		Description: "Keeps a find and gives the visitor a random ticket for the question at the counter.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, bring).Reconcile(find).Verify(check).Compensate(remove)
}

func bring(call *latchwork.Invocation, in Find) (Ticket, error) {
	if in.Species == "" || in.Grams < 1 || in.Grams > 50_000 {
		return Ticket{}, latchwork.Fail(latchwork.InvalidInput, "a species and 1 to 50000 grams are needed")
	}
	value, err := json.Marshal(kept{in, latchwork.UUID(), time.Now().UTC().Format(time.RFC3339)})
	if err != nil {
		return Ticket{}, err
	}
	if err := latchwork.KVSet("find/"+call.ExternalKey, value); err != nil {
		return Ticket{}, err
	}
	return answer(call, value)
}

// find reads the ticket that the call drew.
func find(call *latchwork.Invocation, _ Find) (latchwork.Verdict, error) {
	value, found, err := latchwork.KVGet("find/" + call.ExternalKey)
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	ticket, err := answer(call, value)
	if err != nil {
		return latchwork.Unknown, err
	}
	return latchwork.Happened(ticket), nil
}

func answer(call *latchwork.Invocation, value []byte) (Ticket, error) {
	var entry kept
	if err := json.Unmarshal(value, &entry); err != nil {
		return Ticket{}, latchwork.Fail(latchwork.DependencyUnavailable, "the find cannot be read: %w", err)
	}
	call.Changed(latchwork.Change{
		ResourceType: "find", ResourceID: "find/" + call.ExternalKey, Operation: "create", ETag: etag(value),
	})
	return Ticket{entry.Ticket, call.ExternalKey}, nil
}

func etag(value []byte) string {
	sum := sha256.Sum256(value)
	return hex.EncodeToString(sum[:])
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	value, found, err := latchwork.KVGet(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the find is missing", nil
	case etag(value) != change.ETag:
		return "the find was changed", nil
	}
	return "", nil
}

func remove(call *latchwork.Invocation, in Find, ticket Ticket) error {
	name := "find/" + call.ExternalKey
	value, found, err := latchwork.KVGet(name)
	if err != nil {
		return err
	}
	var entry kept
	if !found || json.Unmarshal(value, &entry) != nil || entry.Ticket != ticket.Ticket || entry.Find != in {
		return latchwork.Fail(latchwork.PolicyDenied, "the find was changed or removed")
	}
	was, err := latchwork.KVDelete(name)
	if err != nil {
		return err
	}
	if !was {
		return latchwork.Fail(latchwork.PolicyDenied, "the find was removed by someone else")
	}
	call.Changed(latchwork.Change{ResourceType: "find", ResourceID: name, Operation: "delete"})
	return nil
}

// main is empty: the host calls the operators.
func main() {}
