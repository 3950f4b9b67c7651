// Command piano-tuning keeps the tunings of the pianos of a conservatory.
package main

import (
	"encoding/json"
	"time"

	"latchwork"
)

type Tuning struct {
	Piano   string  `json:"piano"`
	PitchHz float64 `json:"pitch_hz"`
	Strings int     `json:"strings_replaced"`
	Remarks string  `json:"remarks,omitempty"`
}

type Slip struct {
	Slip  string `json:"slip"`
	Piano string `json:"piano"`
}

type entry struct {
	Tuning
	At time.Time `json:"at"`
}

func init() {
	latchwork.Tool("Piano.Tuned", latchwork.Spec{
		Description: "Records that a piano was tuned.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, record).Reconcile(find)

	latchwork.Tool("Piano.Slip", latchwork.Spec{
		Description: "Shows a recorded tuning.",
	}, show)
}

func record(call *latchwork.Invocation, tuning Tuning) (Slip, error) {
	if tuning.Piano == "" {
		return Slip{}, latchwork.Fail(latchwork.InvalidInput, "which piano?")
	}
	if tuning.PitchHz < 390 || tuning.PitchHz > 470 {
		return Slip{}, latchwork.Fail(latchwork.InvalidInput, "%g Hz is not a pitch for a piano", tuning.PitchHz)
	}
	if tuning.Strings < 0 || tuning.Strings > 240 {
		return Slip{}, latchwork.Fail(latchwork.InvalidInput, "%d strings", tuning.Strings)
	}
	value, err := json.Marshal(entry{tuning, time.Now().UTC()})
	if err != nil {
		return Slip{}, err
	}
	if err := latchwork.KVSet(call.ExternalKey, value); err != nil {
		return Slip{}, err
	}
	return slip(call, tuning), nil
}

// find looks for the slip of a call whose answer was lost.
func find(call *latchwork.Invocation, tuning Tuning) (latchwork.Verdict, error) {
	if _, found, _ := latchwork.KVGet(call.ExternalKey); found {
		return latchwork.Happened(slip(call, tuning)), nil
	}
	return latchwork.DidNotHappen, nil
}

func slip(call *latchwork.Invocation, tuning Tuning) Slip {
	call.Changed(latchwork.Change{ResourceType: "tuning", ResourceID: call.ExternalKey, Operation: "create"})
	return Slip{call.ExternalKey, tuning.Piano}
}

type Wanted struct {
	Slip string `json:"slip"`
}

func show(_ *latchwork.Invocation, wanted Wanted) (json.RawMessage, error) {
	if len(wanted.Slip) > 128 {
		return nil, latchwork.Fail(latchwork.InvalidInput, "a slip has at most 128 characters")
	}
	value, found, err := latchwork.KVGet(wanted.Slip)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, latchwork.Fail(latchwork.MissingRequiredContext, "no slip %s", wanted.Slip)
	}
	return value, nil
}

// main is empty: the host calls the operators.
func main() {}
