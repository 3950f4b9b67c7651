package main

import (
	"errors"
	"strings"

	"latchwork"
)

type Specimen struct {
	Species string `json:"species"`
	Site    string `json:"site"`
	Remarks string `json:"remarks"`
}

type Filed struct {
	Card  string `json:"card"`
	Label string `json:"label"`
}

type Wanted struct {
	Card string `json:"card"`
}

type Shown struct {
	Label   string `json:"label"`
	Remarks string `json:"remarks"`
}

func init() {
	latchwork.Tool("Specimen.File", latchwork.Spec{
		Description: "Files the card of a specimen: its remarks, then its label.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, file).Reconcile(find)
	latchwork.Tool("Specimen.Show", latchwork.Spec{Description: "Shows the card of a specimen."}, show)
}

func file(call *latchwork.Invocation, specimen Specimen) (Filed, error) {
	words := strings.Fields(specimen.Species)
	if len(words) != 2 {
		return Filed{}, latchwork.Fail(latchwork.InvalidInput, "a species has two names, not %d", len(words))
	}
	if len(specimen.Species)+len(specimen.Site) > 2000 || len(specimen.Remarks) > 60000 {
		return Filed{}, latchwork.Fail(latchwork.InvalidInput, "the card is too long")
	}
	if err := latchwork.KVSet("remarks#"+call.ExternalKey, []byte(specimen.Remarks)); err != nil {
		return Filed{}, err
	}
	// The label makes the card visible. Remarks without a label are shown by no operator.
	if err := latchwork.KVSet("label#"+call.ExternalKey, []byte(label(specimen))); err != nil {
		var failure *latchwork.Failure
		if errors.As(err, &failure) {
			failure.Applied = latchwork.AppliedUnknown
		}
		return Filed{}, err
	}
	return filed(call, specimen), nil
}

// find is called after a crash and finds out whether the call happened.
func find(call *latchwork.Invocation, specimen Specimen) (latchwork.Verdict, error) {
	_, found, err := latchwork.KVGet("label#" + call.ExternalKey)
	switch {
	case err != nil:
		return latchwork.Unknown, err
	case !found:
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(filed(call, specimen)), nil
}

func filed(call *latchwork.Invocation, specimen Specimen) Filed {
	call.Changed(latchwork.Change{ResourceType: "card", ResourceID: call.ExternalKey, Operation: "create"})
	return Filed{call.ExternalKey, label(specimen)}
}

func show(_ *latchwork.Invocation, wanted Wanted) (Shown, error) {
	if len(wanted.Card) > 128 {
		return Shown{}, latchwork.Fail(latchwork.InvalidInput, "this is no key of a card")
	}
	text, found, err := latchwork.KVGet("label#" + wanted.Card)
	if err != nil {
		return Shown{}, err
	}
	if !found {
		return Shown{}, latchwork.Fail(latchwork.MissingRequiredContext, "there is no card %s", wanted.Card)
	}
	remarks, _, err := latchwork.KVGet("remarks#" + wanted.Card)
	if err != nil {
		return Shown{}, err
	}
	return Shown{string(text), string(remarks)}, nil
}

func label(specimen Specimen) string {
	return strings.Join(strings.Fields(specimen.Species), " ") + " (" + specimen.Site + ")"
}

// main is empty: the host calls the operators.
func main() {}
