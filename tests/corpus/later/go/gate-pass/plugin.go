package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"latchwork"
)

type Visit struct {
	Visitor string `json:"visitor"`
	Host    string `json:"host"`
}

type Pass struct {
	Pass    string `json:"pass"`
	Visitor string `json:"visitor"`
}

func init() {
	latchwork.Tool("Pass.Issue", latchwork.Spec{
		Description: "Issues a pass for a visitor.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, issue).Reconcile(find)
}

// pass returns the pass of a call. Its number follows from the key.
func pass(call *latchwork.Invocation, visit Visit) Pass {
	sum := sha256.Sum256([]byte(call.ExternalKey))
	return Pass{"P-" + hex.EncodeToString(sum[:5]), strings.TrimSpace(visit.Visitor)}
}

func issue(call *latchwork.Invocation, visit Visit) (Pass, error) {
	if strings.TrimSpace(visit.Visitor) == "" {
		return Pass{}, latchwork.Fail(latchwork.InvalidInput, "the visitor has no name")
	}
	made := pass(call, visit)
	value, err := json.Marshal(map[string]string{"pass": made.Pass, "visitor": made.Visitor, "host": visit.Host})
	if err != nil {
		return Pass{}, err
	}
	if err := latchwork.KVSet(call.ExternalKey, value); err != nil {
		return Pass{}, err
	}
	call.Changed(latchwork.Change{ResourceType: "pass", ResourceID: made.Pass, Operation: "create"})
	call.Receipt(map[string]string{"pass": made.Pass})
	return made, nil
}

// find is called after a crash and finds out whether the pass was issued.
func find(call *latchwork.Invocation, visit Visit) (latchwork.Verdict, error) {
	_, found, err := latchwork.KVGet(call.ExternalKey)
	if err != nil || !found {
		return latchwork.DidNotHappen, err
	}
	return latchwork.Happened(pass(call, visit)), nil
}

// main is empty: the host calls the operators.
func main() {}
