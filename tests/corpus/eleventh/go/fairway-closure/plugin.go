package main

import (
	"encoding/json"
	"strings"
	"time"

	"latchwork"
)

type Closure struct {
	Fairway string `json:"fairway"`
	Reason  string `json:"reason"`
	Hours   int    `json:"hours"`
}

type Stored struct {
	Fairway string `json:"fairway"`
	Reason  string `json:"reason"`
	Until   string `json:"until"`
}

type Closed struct {
	Notice string `json:"notice"`
	Until  string `json:"until"`
}

func init() {
	latchwork.Tool("Fairway.Close", latchwork.Spec{
		Description: "Closes a fairway for some hours and keeps the notice.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, closeFairway).Reconcile(find)
}

func closeFairway(call *latchwork.Invocation, closure Closure) (Closed, error) {
	if strings.TrimSpace(closure.Fairway) == "" || len(closure.Fairway) > 200 || len(closure.Reason) > 2000 {
		return Closed{}, latchwork.Fail(latchwork.InvalidInput, "the fairway or the reason has no usable length")
	}
	if closure.Hours < 1 || closure.Hours > 240 {
		return Closed{}, latchwork.Fail(latchwork.InvalidInput, "a closure of %d hours", closure.Hours)
	}
	until := time.Now().UTC().Add(time.Duration(closure.Hours) * time.Hour)
	stored := Stored{closure.Fairway, closure.Reason, until.Format(time.RFC3339)}
	text, err := json.Marshal(stored)
	if err != nil {
		return Closed{}, err
	}
	if err := latchwork.KVSet("closure/"+call.ExternalKey, text); err != nil {
		return Closed{}, err
	}
	return closed(call, stored), nil
}

func closed(call *latchwork.Invocation, stored Stored) Closed {
	return Closed{call.ExternalKey, stored.Until}
}

// find looks for the notice of a call whose answer was lost.
func find(call *latchwork.Invocation, _ Closure) (latchwork.Verdict, error) {
	text, found, _ := latchwork.KVGet("closure/" + call.ExternalKey)
	if !found {
		return latchwork.DidNotHappen, nil
	}
	var stored Stored
	if err := json.Unmarshal(text, &stored); err != nil {
		return latchwork.Unknown, err
	}
	return latchwork.Happened(closed(call, stored)), nil
}

func main() {}
