// Keeps the label of a storage bin under the key of the call.
package main

import (
	"strings"

	"latchwork"
)

type Label struct {
	Bin   string   `json:"bin"`
	Goods []string `json:"goods"`
}

type Kept struct {
	Label string `json:"label"`
	Goods int    `json:"goods"`
}

func init() {
	latchwork.Tool("Bin.Label", latchwork.Spec{
		Description: "Keeps the label of a bin.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, keep).Reconcile(find).Verify(check)
}

func keep(call *latchwork.Invocation, label Label) (Kept, error) {
	if label.Bin == "" || len(label.Goods) == 0 {
		return Kept{}, latchwork.Fail(latchwork.InvalidInput, "the label has no bin or no goods")
	}
	text := label.Bin + ": " + strings.Join(label.Goods, ", ")
	if err := latchwork.KVSet(call.ExternalKey, []byte(text)); err != nil {
		return Kept{}, err
	}
	return kept(call, label, text), nil
}

// read returns the label of a call, or an empty text. A label is never empty.
func read(key string) string {
	text, _, _ := latchwork.KVGet(key)
	return string(text)
}

func find(call *latchwork.Invocation, label Label) (latchwork.Verdict, error) {
	text := read(call.ExternalKey)
	if text == "" {
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(kept(call, label, text)), nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the label is missing", nil
	case string(text) != change.Version:
		return "the bin has another label", nil
	}
	return "", nil
}

func kept(call *latchwork.Invocation, label Label, text string) Kept {
	call.Changed(latchwork.Change{
		ResourceType: "label", ResourceID: call.ExternalKey, Operation: "create", Version: text,
	})
	return Kept{call.ExternalKey, len(label.Goods)}
}

// main is empty: the host calls the operators.
func main() {}
