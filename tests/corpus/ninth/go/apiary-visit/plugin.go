package main

import (
	"encoding/json"

	"latchwork"
)

type Visit struct {
	Hive   int    `json:"hive"`
	Frames int    `json:"frames"`
	Queen  bool   `json:"queen"`
	Note   string `json:"note"`
}

type Logged struct {
	Visit string `json:"visit"`
}

func init() {
	latchwork.Tool("Visit.Log", latchwork.Spec{
		Description: "Logs a visit to a bee hive.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, log).Reconcile(find).Verify(check)
}

func log(call *latchwork.Invocation, visit Visit) (Logged, error) {
	if visit.Hive < 1 || visit.Frames < 0 || visit.Frames > 60 {
		return Logged{}, latchwork.Fail(latchwork.InvalidInput, "hive or frames are out of range")
	}
	if len(visit.Note) > 2000 {
		return Logged{}, latchwork.Fail(latchwork.InvalidInput, "the note is too long")
	}
	text, err := json.Marshal(visit)
	if err != nil {
		return Logged{}, err
	}
	if err := latchwork.KVSet(call.ExternalKey, text); err != nil {
		return Logged{}, err
	}
	return logged(call, text), nil
}

// find looks for the visit after a crash.
func find(call *latchwork.Invocation, _ Visit) (latchwork.Verdict, error) {
	text, _, _ := latchwork.KVGet(call.ExternalKey)
	if len(text) == 0 {
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(logged(call, text)), nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the visit is missing", nil
	case string(text) != change.Version:
		return "the visit was changed", nil
	}
	return "", nil
}

func logged(call *latchwork.Invocation, text []byte) Logged {
	call.Changed(latchwork.Change{
		ResourceType: "visit", ResourceID: call.ExternalKey, Operation: "create", Version: string(text),
	})
	return Logged{call.ExternalKey}
}

func main() {}
