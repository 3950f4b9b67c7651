package main

import (
	"encoding/json"
	"slices"
	"strings"

	"latchwork"
)

type Seal struct {
	Document string `json:"document"`
	Wax      string `json:"wax"`
	Motif    string `json:"motif"`
}

type Pressed struct {
	Entry string `json:"entry"`
	Line  string `json:"line"`
}

var waxes = []string{"red", "green", "black", "white"}

func init() {
	latchwork.Tool("Seal.Press", latchwork.Spec{
		Description: "Enters the seal of a charter in the register of seals.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, press).Reconcile(find)
}

func press(call *latchwork.Invocation, seal Seal) (Pressed, error) {
	if !slices.Contains(waxes, seal.Wax) {
		return Pressed{}, latchwork.Fail(latchwork.InvalidInput, "there is no %q wax: use one of %s", seal.Wax, strings.Join(waxes, ", "))
	}
	if seal.Document == "" || len(seal.Document) > 300 || len(seal.Motif) > 300 {
		return Pressed{}, latchwork.Fail(latchwork.InvalidInput, "document and motif have at most 300 bytes")
	}
	text, err := json.Marshal(seal)
	if err != nil {
		return Pressed{}, err
	}
	if err := latchwork.KVSet(entry(call), text); err != nil {
		return Pressed{}, err
	}
	return pressed(call, seal), nil
}

// find is called after a crash and finds out whether the call happened.
func find(call *latchwork.Invocation, seal Seal) (latchwork.Verdict, error) {
	_, found, err := latchwork.KVGet(entry(call))
	switch {
	case err != nil:
		return latchwork.Unknown, err
	case !found:
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(pressed(call, seal)), nil
}

func pressed(call *latchwork.Invocation, seal Seal) Pressed {
	call.Changed(latchwork.Change{ResourceType: "seal", ResourceID: entry(call), Operation: "create"})
	return Pressed{entry(call), seal.Document + ": " + seal.Wax + " wax, " + seal.Motif}
}

// entry is the name of a seal in the register. It can be used as a file name by the yearly export.
func entry(call *latchwork.Invocation) string {
	return "seal-" + strings.NewReplacer(":", "-", "/", "-").Replace(call.ExternalKey)
}

// main is empty: the host calls the operators.
func main() {}
