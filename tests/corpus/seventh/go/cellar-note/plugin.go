package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"latchwork"
)

type Tasting struct {
	Wine   string `json:"wine"`
	Points int    `json:"points"`
	Notes  string `json:"notes"`
}

type Recorded struct {
	ID      string `json:"id"`
	Version string `json:"version"`
}

func init() {
	latchwork.Tool("Cellar.Record", latchwork.Spec{
		Description: "Records a tasting note of a wine.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, record).Reconcile(find).Verify(check)
}

func record(call *latchwork.Invocation, tasting Tasting) (Recorded, error) {
	if tasting.Points < 50 || tasting.Points > 100 {
		return Recorded{}, latchwork.Fail(latchwork.InvalidInput, "%d is not between 50 and 100 points", tasting.Points)
	}
	text, err := json.Marshal(tasting)
	if err != nil {
		return Recorded{}, err
	}
	if err := latchwork.KVSet(call.ExternalKey, text); err != nil {
		return Recorded{}, err
	}
	return recorded(call, text), nil
}

func find(call *latchwork.Invocation, _ Tasting) (latchwork.Verdict, error) {
	text, found, err := latchwork.KVGet(call.ExternalKey)
	switch {
	case err != nil:
		return latchwork.Unknown, err
	case !found:
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(recorded(call, text)), nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(change.ResourceID)
	if err != nil || !found {
		return fmt.Sprintf("there is no tasting note %s", change.ResourceID), nil
	}
	if now := version(text); now != change.Version {
		return fmt.Sprintf("the tasting note has version %s", now), nil
	}
	return "", nil
}

func recorded(call *latchwork.Invocation, text []byte) Recorded {
	made := Recorded{ID: call.ExternalKey, Version: version(text)}
	call.Changed(latchwork.Change{ResourceType: "tasting", ResourceID: made.ID, Operation: "create", Version: made.Version})
	return made
}

func version(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// main is empty: the host calls the operators.
func main() {}
