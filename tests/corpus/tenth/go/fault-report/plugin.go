package main

import (
	"encoding/json"
	"strings"

	"latchwork"
)

type Fault struct {
	Lift  string `json:"lift"`
	Floor int    `json:"floor"`
	Text  string `json:"text"`
}

type Reported struct {
	Report string `json:"report"`
	Urgent bool   `json:"urgent"`
}

func init() {
	latchwork.Tool("Fault.Report", latchwork.Spec{
		Description: "Reports a fault of a lift to the technicians on duty.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, report).Reconcile(find).Verify(check)
}

func entry(call *latchwork.Invocation) string { return "fault/" + call.ExternalKey }

func report(call *latchwork.Invocation, fault Fault) (Reported, error) {
	if fault.Lift == "" || strings.TrimSpace(fault.Text) == "" {
		return Reported{}, latchwork.Fail(latchwork.InvalidInput, "a report names the lift and the fault")
	}
	text, err := json.Marshal(fault)
	if err != nil {
		return Reported{}, err
	}
	if err := latchwork.KVSet(entry(call), text); err != nil {
		return Reported{}, err
	}
	return reported(call, fault, text), nil
}

// find looks for the report of a call that was interrupted.
func find(call *latchwork.Invocation, fault Fault) (latchwork.Verdict, error) {
	want, err := json.Marshal(fault)
	if err != nil {
		return latchwork.Unknown, err
	}
	got, _, _ := latchwork.KVGet(entry(call))
	if string(got) == string(want) {
		return latchwork.Happened(reported(call, fault, want)), nil
	}
	if got != nil {
		// A technician has edited the report.
		return latchwork.Unknown, nil
	}
	return latchwork.DidNotHappen, nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the report is missing", nil
	case string(text) != change.Version:
		return "the report was edited", nil
	}
	return "", nil
}

func reported(call *latchwork.Invocation, fault Fault, text []byte) Reported {
	call.Changed(latchwork.Change{ResourceType: "fault", ResourceID: entry(call), Operation: "create", Version: string(text)})
	return Reported{entry(call), strings.Contains(strings.ToLower(fault.Text), "stuck")}
}

func main() {}
