package main

import (
	"time"

	"latchwork"
)

type Order struct {
	Until time.Time `json:"until"`
}

type Pass struct {
	Pass string `json:"pass"`
}

type Checked struct {
	Valid bool   `json:"valid"`
	Until string `json:"until"`
}

func init() {
	latchwork.Tool("Pass.Sell", latchwork.Spec{
		Description: "Sells a pass for the sauna.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, sell).Verify(verify)
	latchwork.Tool("Pass.Check", latchwork.Spec{
		Description: "Checks at the door whether a pass is valid.",
	}, check)
}

func sell(call *latchwork.Invocation, order Order) (Pass, error) {
	if order.Until.IsZero() {
		return Pass{}, latchwork.Fail(latchwork.InvalidInput, "the pass has no end")
	}
	end := order.Until.UTC().Format(time.RFC3339)
	if err := latchwork.KVSet("pass/"+call.ExternalKey, []byte(end)); err != nil {
		return Pass{}, err
	}
	call.Changed(latchwork.Change{
		ResourceType: "pass", ResourceID: "pass/" + call.ExternalKey, Operation: "create", Version: end,
	})
	return Pass{call.ExternalKey}, nil
}

func verify(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	until, found, err := latchwork.KVGet(change.ResourceID)
	if err == nil && (!found || string(until) != change.Version) {
		return "the pass is missing or has another end", nil
	}
	return "", err
}

func check(_ *latchwork.Invocation, pass Pass) (Checked, error) {
	text, found, err := latchwork.KVGet("pass/" + pass.Pass)
	if err != nil {
		return Checked{}, err
	}
	if !found {
		return Checked{false, ""}, nil
	}
	until, err := time.Parse(time.RFC3339, string(text))
	if err != nil {
		return Checked{}, err
	}
	if time.Now().After(until) {
		// The pass has no further use.
		if _, err := latchwork.KVDelete("pass/" + pass.Pass); err != nil {
			return Checked{}, err
		}
		return Checked{false, string(text)}, nil
	}
	return Checked{true, string(text)}, nil
}

func main() {}
