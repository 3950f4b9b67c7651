package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"latchwork"
)

type Memo struct {
	Text string `json:"text"`
}

type Pinned struct {
	Key string `json:"key"`
}

// entry is the stored form of a memo.
type entry struct {
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

func init() {
	latchwork.Tool("Memo.Pin", latchwork.Spec{
		Description: "Keeps a memo under the key of its call.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, pin).Verify(check)
}

func digest(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }

func pin(call *latchwork.Invocation, memo Memo) (Pinned, error) {
	if memo.Text == "" || len(memo.Text) > 10_000 {
		return Pinned{}, latchwork.Fail(latchwork.InvalidInput, "the memo has %d bytes", len(memo.Text))
	}
	value, err := json.Marshal(entry{memo.Text, time.Now()})
	if err != nil {
		return Pinned{}, err
	}
	if err := latchwork.KVSet("memo:"+call.ExternalKey, value); err != nil {
		return Pinned{}, err
	}
	call.Changed(latchwork.Change{
		ResourceType: "memo", ResourceID: call.ExternalKey, Operation: "create", Version: digest([]byte(memo.Text)),
	})
	return Pinned{call.ExternalKey}, nil
}

// check is called when a job is resumed: tells whether the memo is as it was written.
func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	value, found, err := latchwork.KVGet("memo:" + change.ResourceID)
	if err != nil {
		return "", err
	}
	if !found {
		return "the memo is missing", nil
	}
	if now := digest(value); now != change.Version {
		return "the memo was changed: its digest is " + now, nil
	}
	return "", nil
}

// main is empty: the host calls the operators.
func main() {}
