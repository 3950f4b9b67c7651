package main

import (
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"strings"
	"time"

	"latchwork"
)

type Visit struct {
	Visitor string `json:"visitor"`
}

type Code struct {
	Visitor string    `json:"visitor"`
	Code    string    `json:"code"`
	Made    time.Time `json:"made"`
}

func init() {
	latchwork.Tool("Bell.Code", latchwork.Spec{
		Description:     "Makes a code with which a visitor rings the bell.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 7 * 24 * time.Hour,
	}, code).Verify(check)
}

func code(call *latchwork.Invocation, visit Visit) (Code, error) {
	visitor := strings.TrimSpace(visit.Visitor)
	if visitor == "" || len(visitor) > 200 {
		return Code{}, latchwork.Fail(latchwork.InvalidInput, "a visitor has a name of 1 to 200 bytes")
	}
	slog.Info("code asked for", "tries_before", call.TriesBefore, "attempt", call.Attempt)
	text, found, err := latchwork.KVGet(call.ExternalKey)
	if err != nil {
		return Code{}, err
	}
	if found {
		var known Code
		if err := json.Unmarshal(text, &known); err != nil {
			return Code{}, latchwork.Fail(latchwork.DependencyUnavailable, "code of %s: %w", visitor, err)
		}
		return made(call, known), nil
	}
	prefix := "B"
	if _, err := latchwork.Config("prefix", &prefix); err != nil {
		return Code{}, err
	}
	fresh := Code{Visitor: visitor, Code: prefix + "-" + rand.Text()[:8], Made: time.Now().UTC()}
	if text, err = json.Marshal(fresh); err != nil {
		return Code{}, err
	}
	if err := latchwork.KVSet(call.ExternalKey, text); err != nil {
		return Code{}, err
	}
	return made(call, fresh), nil
}

// check compares a recorded code with the one that is kept.
func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(change.ResourceID)
	if err != nil {
		return "", err
	}
	if !found {
		return "the code is missing", nil
	}
	var kept Code
	if err := json.Unmarshal(text, &kept); err != nil {
		return "", latchwork.Fail(latchwork.DependencyUnavailable, "code %s: %w", change.ResourceID, err)
	}
	if kept.Code != change.Version {
		return "the code is " + kept.Code, nil
	}
	return "", nil
}

// made records the change and the receipt of a code, whether this try or an earlier one made it.
func made(call *latchwork.Invocation, code Code) Code {
	call.Changed(latchwork.Change{ResourceType: "code", ResourceID: call.ExternalKey, Operation: "create", Version: code.Code})
	call.Receipt(map[string]any{"code": code.Code, "made": code.Made})
	return code
}

// main is empty: the host calls the operators.
func main() {}
