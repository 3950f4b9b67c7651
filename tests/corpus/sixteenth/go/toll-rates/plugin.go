// Command toll-rates keeps the tolls of the gates of a toll road.
package main

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"latchwork"
)

type Rate struct {
	Gate  string `json:"gate"`
	Cents int    `json:"cents"`
}

type Gate struct {
	Gate string `json:"gate"`
}

func init() {
	latchwork.Tool("Toll.Set", latchwork.Spec{
		Description: "Sets the toll of a gate.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
		// The same call writes the same toll.
		IdempotentByKey: 24 * time.Hour,
	}, set)
	latchwork.Tool("Toll.Get", latchwork.Spec{
		Description: "Reads the toll of a gate.",
	}, get)
}

// entry returns the name of the entry of a gate.
func entry(gate string) (string, error) {
	name := strings.ToLower(strings.TrimSpace(gate))
	if name == "" || len(name) > 60 {
		return "", latchwork.Fail(latchwork.InvalidInput, "a gate has a name of 1 to 60 bytes")
	}
	return "toll/" + name, nil
}

func set(call *latchwork.Invocation, rate Rate) (Rate, error) {
	name, err := entry(rate.Gate)
	if err != nil {
		return Rate{}, err
	}
	if rate.Cents < 0 || rate.Cents > 10000 {
		return Rate{}, latchwork.Fail(latchwork.InvalidInput, "a toll is from 0 to 10000 cents, not %d", rate.Cents)
	}
	value, err := json.Marshal(rate)
	if err != nil {
		return Rate{}, err
	}
	if err := latchwork.KVSet(name, value); err != nil {
		return Rate{}, err
	}
	call.Changed(latchwork.Change{
		ResourceType: "toll", ResourceID: name, Operation: "update", Version: strconv.Itoa(rate.Cents),
	})
	return rate, nil
}

func get(_ *latchwork.Invocation, gate Gate) (Rate, error) {
	name, err := entry(gate.Gate)
	if err != nil {
		return Rate{}, err
	}
	value, found, err := latchwork.KVGet(name)
	if err != nil {
		return Rate{}, err
	}
	if !found {
		return Rate{}, latchwork.Fail(latchwork.MissingRequiredContext, "the gate %s has no toll", gate.Gate)
	}
	var rate Rate
	if err := json.Unmarshal(value, &rate); err != nil {
		return Rate{}, latchwork.Fail(latchwork.DependencyUnavailable, "%s cannot be read: %w", name, err)
	}
	return rate, nil
}

// main is empty: the host calls the operators.
func main() {}
