// Command cello-hold holds instruments of a lending library, and releases them again.
package main

import (
	"encoding/json"
	"time"

	"latchwork"
)

type Wish struct {
	Instrument string `json:"instrument"`
	Player     string `json:"player"`
}

// Hold is the entry of a hold. It keeps its place after the release.
type Hold struct {
	Instrument string    `json:"instrument"`
	Player     string    `json:"player"`
	Since      time.Time `json:"since"`
	Released   bool      `json:"released"`
}

type Held struct {
	Hold  string    `json:"hold"`
	Since time.Time `json:"since"`
}

type Named struct {
	Hold string `json:"hold"`
}

func init() {
	effects := []latchwork.Effect{latchwork.InternalWrite}
	latchwork.Tool("Hold.Place", latchwork.Spec{
		Description:     "Notes that a player wants to have an instrument held.",
		Effects:         effects,
		IdempotentByKey: 30 * 24 * time.Hour,
	}, place).Verify(check)
	latchwork.Tool("Hold.Release", latchwork.Spec{
		Description:     "Releases a hold.",
		Effects:         effects,
		IdempotentByKey: 30 * 24 * time.Hour,
	}, release).Verify(check)
}

func load(key string) (hold Hold, found bool, err error) {
	text, found, err := latchwork.KVGet(key)
	if err != nil || !found {
		return hold, found, err
	}
	if err := json.Unmarshal(text, &hold); err != nil {
		return hold, true, latchwork.Fail(latchwork.MissingRequiredContext, "the hold %s cannot be read", key)
	}
	return hold, true, nil
}

func save(key string, hold Hold) error {
	text, err := json.Marshal(hold)
	if err != nil {
		return err
	}
	return latchwork.KVSet(key, text)
}

func state(hold Hold) string {
	if hold.Released {
		return "released"
	}
	return "held"
}

func place(call *latchwork.Invocation, wish Wish) (Held, error) {
	if wish.Instrument == "" || wish.Player == "" {
		return Held{}, latchwork.Fail(latchwork.InvalidInput, "a hold needs an instrument and a player")
	}
	hold, found, err := load(call.ExternalKey)
	if err != nil {
		return Held{}, err
	}
	if !found {
		hold = Hold{Instrument: wish.Instrument, Player: wish.Player, Since: time.Now().UTC()}
		if err := save(call.ExternalKey, hold); err != nil {
			return Held{}, err
		}
	}
	call.Changed(latchwork.Change{
		ResourceType: "hold", ResourceID: call.ExternalKey, Operation: "create", Version: "held",
	})
	return Held{call.ExternalKey, hold.Since}, nil
}

func release(call *latchwork.Invocation, named Named) (Held, error) {
	if named.Hold == "" || len(named.Hold) > 128 {
		return Held{}, latchwork.Fail(latchwork.InvalidInput, "a hold cannot have this name")
	}
	hold, found, err := load(named.Hold)
	if err != nil {
		return Held{}, err
	}
	if !found {
		return Held{}, latchwork.Fail(latchwork.InvalidInput, "there is no hold %s", named.Hold)
	}
	hold.Released = true
	if err := save(named.Hold, hold); err != nil {
		return Held{}, err
	}
	call.Changed(latchwork.Change{
		ResourceType: "hold", ResourceID: named.Hold, Operation: "update", Version: "released",
	})
	return Held{named.Hold, hold.Since}, nil
}

// check is called when a job is resumed. It compares the state of a hold with the record.
func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	hold, found, err := load(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the hold is gone", nil
	case state(hold) != change.Version:
		return "the hold is " + state(hold), nil
	}
	return "", nil
}

// main is empty: the host calls the operators.
func main() {}
