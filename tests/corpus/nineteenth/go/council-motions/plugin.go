// Command council-motions keeps the motions of a town council. A motion can be tabled and withdrawn.
package main

import (
	"encoding/json"
	"strings"

	"latchwork"
)

type Motion struct {
	Title   string `json:"title"`
	Text    string `json:"text"`
	Sponsor string `json:"sponsor"`
}

type Reference struct {
	Number string `json:"number"`
}

// State is the answer of both operators.
type State struct {
	Number string `json:"number"`
	Title  string `json:"title"`
	State  string `json:"state"`
}

// entry is a motion in the map. It remains there after the motion was withdrawn.
type entry struct {
	Motion
	State string `json:"state"`
}

func init() {
	writes := []latchwork.Effect{latchwork.InternalWrite}
	latchwork.Tool("Motion.Table", latchwork.Spec{Description: "Tables a motion.", Effects: writes}, table).
		Reconcile(find).Verify(check)
	latchwork.Tool("Motion.Withdraw", latchwork.Spec{Description: "Withdraws a motion.", Effects: writes}, withdraw).
		Verify(check)
}

func table(call *latchwork.Invocation, motion Motion) (State, error) {
	for _, text := range []string{motion.Title, motion.Sponsor} {
		if strings.TrimSpace(text) == "" || len(text) > 300 {
			return State{}, latchwork.Fail(latchwork.InvalidInput, "title and sponsor have 1 to 300 bytes")
		}
	}
	if motion.Text == "" || len(motion.Text) > 8000 {
		return State{}, latchwork.Fail(latchwork.InvalidInput, "%s: a text has 1 to 8000 bytes", motion.Title)
	}
	if err := write(call.ExternalKey, entry{motion, "tabled"}); err != nil {
		return State{}, err
	}
	return changed(call, call.ExternalKey, motion.Title, "create", "tabled"), nil
}

// find is called after a crash. A motion that was withdrawn since has been tabled, too.
func find(call *latchwork.Invocation, motion Motion) (latchwork.Verdict, error) {
	_, found, err := read(call.ExternalKey)
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(changed(call, call.ExternalKey, motion.Title, "create", "tabled")), nil
}

// withdraw marks a motion. A motion that is withdrawn already stays as it is.
func withdraw(call *latchwork.Invocation, reference Reference) (State, error) {
	if reference.Number == "" || len(reference.Number) > 128 {
		return State{}, latchwork.Fail(latchwork.InvalidInput, "a number has 1 to 128 bytes")
	}
	kept, found, err := read(reference.Number)
	if err != nil {
		return State{}, err
	}
	if !found {
		return State{}, latchwork.Fail(latchwork.MissingRequiredContext, "there is no motion %s", reference.Number)
	}
	kept.State = "withdrawn"
	if err := write(reference.Number, kept); err != nil {
		return State{}, err
	}
	return changed(call, reference.Number, kept.Title, "update", "withdrawn"), nil
}

// check is called when a job is resumed. The version of a change is the state of the motion.
func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	kept, found, err := read(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the motion is missing", nil
	case kept.State != change.Version:
		return "the motion is " + kept.State, nil
	}
	return "", nil
}

func changed(call *latchwork.Invocation, number, title, operation, state string) State {
	call.Changed(latchwork.Change{
		ResourceType: "motion", ResourceID: number, Operation: operation, Version: state,
	})
	return State{number, title, state}
}

func read(number string) (entry, bool, error) {
	text, found, err := latchwork.KVGet("motion/" + number)
	if err != nil || !found {
		return entry{}, false, err
	}
	var kept entry
	if err := json.Unmarshal(text, &kept); err != nil {
		return entry{}, false, err
	}
	return kept, true, nil
}

func write(number string, kept entry) error {
	text, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	return latchwork.KVSet("motion/"+number, text)
}

// main is empty: the host calls the operators.
func main() {}
