package main

import (
	"fmt"

	"latchwork"
)

type Amount struct {
	Cents int    `json:"cents"`
	For   string `json:"for"`
}

type Noted struct {
	Note string `json:"note"`
	Text string `json:"text"`
}

// currency is the currency of all notes: the key currency of the configuration.
var currency = "EUR"

func init() {
	if _, err := latchwork.Config("currency", &currency); err != nil {
		panic(err)
	}
	latchwork.Tool("Amount.Note", latchwork.Spec{
		Description: "Notes an amount in " + currency + ".",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, note).Reconcile(find)
}

func text(amount Amount) string {
	return fmt.Sprintf("%s %d.%02d for %s", currency, amount.Cents/100, amount.Cents%100, amount.For)
}

func note(call *latchwork.Invocation, amount Amount) (Noted, error) {
	if amount.Cents <= 0 || amount.For == "" {
		return Noted{}, latchwork.Fail(latchwork.InvalidInput, "a note needs a positive amount and a purpose")
	}
	if err := latchwork.KVSet(call.ExternalKey, []byte(text(amount))); err != nil {
		return Noted{}, err
	}
	return noted(call, text(amount)), nil
}

// find is called after a crash and finds out whether the amount was noted.
func find(call *latchwork.Invocation, _ Amount) (latchwork.Verdict, error) {
	value, found, err := latchwork.KVGet(call.ExternalKey)
	if err != nil || !found {
		return latchwork.DidNotHappen, err
	}
	return latchwork.Happened(noted(call, string(value))), nil
}

func noted(call *latchwork.Invocation, text string) Noted {
	call.Changed(latchwork.Change{ResourceType: "note", ResourceID: call.ExternalKey, Operation: "create"})
	return Noted{call.ExternalKey, text}
}

// main is empty: the host calls the operators.
func main() {}
