// Canoe-holds holds a canoe for a caller at the counter of a boathouse, for twenty minutes.
package main

import (
	"encoding/json"
	"strings"
	"time"

	"latchwork"
)

const holdFor = 20 * time.Minute

type Wish struct {
	Caller string `json:"caller"`
	Canoe  string `json:"canoe"`
	Seats  int    `json:"seats"`
}

type Hold struct {
	Caller string    `json:"caller"`
	Canoe  string    `json:"canoe"`
	Until  time.Time `json:"until"`
}

type Held struct {
	Hold  string    `json:"hold"`
	Canoe string    `json:"canoe"`
	Until time.Time `json:"until"`
}

func init() {
	latchwork.Tool("Canoe.Hold", latchwork.Spec{
		Description: "Holds a canoe for twenty minutes.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
		// The hold has the name of its call, so a repetition finds it.
		IdempotentByKey: 24 * time.Hour,
		Input: latchwork.Schema(`{"type":"object","properties":{
			"caller":{"type":"string","minLength":1,"maxLength":80},
			"canoe":{"type":"string","pattern":"^[A-Z]{2}-[0-9]{1,3}$"},
			"seats":{"type":"integer","minimum":1,"maximum":12}},
			"required":["caller","canoe","seats"],"additionalProperties":false}`),
	}, hold)
}

func entry(key string) string { return "hold/" + key }

// current returns the hold of a call if there is one.
func current(key string, now time.Time) (*Hold, error) {
	text, found, err := latchwork.KVGet(entry(key))
	if err != nil || !found {
		return nil, err
	}
	var held Hold
	if err := json.Unmarshal(text, &held); err != nil {
		return nil, latchwork.Fail(latchwork.DependencyUnavailable, "hold %s is damaged: %w", key, err)
	}
	if !now.Before(held.Until) {
		return nil, nil
	}
	return &held, nil
}

func hold(call *latchwork.Invocation, wish Wish) (Held, error) {
	if strings.HasPrefix(wish.Canoe, "KA") && wish.Seats > 2 {
		return Held{}, latchwork.Fail(latchwork.InvalidInput, "a kayak has two seats")
	}
	now := time.Now().UTC().Truncate(time.Second)
	held, err := current(call.ExternalKey, now)
	if err != nil {
		return Held{}, err
	}
	if held == nil {
		held = &Hold{Caller: wish.Caller, Canoe: wish.Canoe, Until: now.Add(holdFor)}
		text, err := json.Marshal(held)
		if err != nil {
			return Held{}, err
		}
		if err := latchwork.KVSet(entry(call.ExternalKey), text); err != nil {
			return Held{}, err
		}
	}
	call.Changed(latchwork.Change{ResourceType: "canoe hold", ResourceID: call.ExternalKey, Operation: "create", Version: held.Until.Format(time.RFC3339)})
	return Held{Hold: call.ExternalKey, Canoe: held.Canoe, Until: held.Until}, nil
}

func main() {}
