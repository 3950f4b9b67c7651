package main

import (
	"crypto/sha256"
	"fmt"

	"latchwork"
)

type Doc struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

type Stored struct {
	ID     string `json:"id"`
	State  string `json:"state"`
	SHA256 string `json:"sha256"`
}

func init() {
	latchwork.Tool("Doc.Store", latchwork.Spec{
		Description: "Stores a document under the key of its call.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, store).Reconcile(find)
}

func name(call *latchwork.Invocation) string { return "doc:" + call.ExternalKey }

func store(call *latchwork.Invocation, doc Doc) (Stored, error) {
	if len(doc.Title)+len(doc.Text) > 60_000 {
		return Stored{}, latchwork.Fail(latchwork.InvalidInput, "%s is too long", doc.Title)
	}
	if err := latchwork.KVSet(name(call), []byte(doc.Title+"\n"+doc.Text)); err != nil {
		return Stored{}, err
	}
	return stored(call, doc, "created"), nil
}

// find is called after a crash and finds out whether the call happened.
func find(call *latchwork.Invocation, doc Doc) (latchwork.Verdict, error) {
	_, found, err := latchwork.KVGet(name(call))
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(stored(call, doc, "already there")), nil
}

func stored(call *latchwork.Invocation, doc Doc, state string) Stored {
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(doc.Title+"\n"+doc.Text)))
	call.Changed(latchwork.Change{ResourceType: "document", ResourceID: call.ExternalKey, Operation: "create", Version: sum})
	return Stored{call.ExternalKey, state, sum}
}

// main is empty: the host calls the operators.
func main() {}
