// Organ-registrations stores the registrations of a church organ: the stops that are drawn for a piece.
package main

import (
	"encoding/json"
	"slices"

	"latchwork"
)

type Registration struct {
	Piece   string   `json:"piece"`
	Stops   []string `json:"stops"`
	Coupler bool     `json:"coupler"`
}

// Stored is the entry of a piece.
type Stored struct {
	Stops   []string `json:"stops"`
	Coupler bool     `json:"coupler"`
	// Call is the call that stored the registration.
	Call string `json:"call"`
}

type Saved struct {
	Piece    string `json:"piece"`
	Replaced bool   `json:"replaced"`
}

func init() {
	latchwork.Tool("Organ.Register", latchwork.Spec{
		Description: "Stores the registration of a piece.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
		Input: latchwork.Schema(`{"type":"object","properties":{
			"piece":{"type":"string","pattern":"^[a-z0-9-]{1,60}$"},
			"stops":{"type":"array","minItems":1,"maxItems":80,"items":{"type":"string","minLength":1,"maxLength":40}},
			"coupler":{"type":"boolean"}},"required":["piece","stops","coupler"],"additionalProperties":false}`),
	}, register).Compensate(restore)
}

func pieceKey(piece string) string  { return "piece/" + piece }
func beforeKey(call string) string { return "before/" + call }

func load(key string) (*Stored, error) {
	text, found, err := latchwork.KVGet(key)
	if err != nil || !found {
		return nil, err
	}
	var stored Stored
	if err := json.Unmarshal(text, &stored); err != nil {
		return nil, latchwork.Fail(latchwork.PolicyDenied, "entry %s is no registration: %w", key, err)
	}
	return &stored, nil
}

func save(key string, stored *Stored) error {
	text, err := json.Marshal(stored)
	if err != nil {
		return err
	}
	return latchwork.KVSet(key, text)
}

// late marks a failure after the first write.
func late(err error) error {
	failure := latchwork.Fail(latchwork.DependencyUnavailable, "%w", err)
	failure.Applied = latchwork.AppliedUnknown
	return failure
}

func register(call *latchwork.Invocation, r Registration) (Saved, error) {
	sorted := slices.Clone(r.Stops)
	slices.Sort(sorted)
	if len(slices.Compact(sorted)) != len(r.Stops) {
		return Saved{}, latchwork.Fail(latchwork.InvalidInput, "a stop is listed twice")
	}
	earlier, err := load(pieceKey(r.Piece))
	if err != nil {
		return Saved{}, err
	}
	// Replaced values are kept first. Nothing reads it but restore.
	if earlier != nil {
		if err := save(beforeKey(call.ExternalKey), earlier); err != nil {
			return Saved{}, late(err)
		}
	}
	if err := save(pieceKey(r.Piece), &Stored{r.Stops, r.Coupler, call.ExternalKey}); err != nil {
		return Saved{}, late(err)
	}
	call.Changed(latchwork.Change{ResourceType: "registration", ResourceID: r.Piece, Operation: "update", Version: call.ExternalKey})
	return Saved{r.Piece, earlier != nil}, nil
}

func restore(call *latchwork.Invocation, r Registration, saved Saved) error {
	now, err := load(pieceKey(r.Piece))
	if err != nil {
		return err
	}
	if now == nil || now.Call != call.ExternalKey {
		return latchwork.Fail(latchwork.PolicyDenied, "the registration of %s was changed since", r.Piece)
	}
	if !saved.Replaced {
		_, err := latchwork.KVDelete(pieceKey(r.Piece))
		return err
	}
	earlier, err := load(beforeKey(call.ExternalKey))
	if err != nil {
		return err
	}
	if earlier == nil {
		return latchwork.Fail(latchwork.PolicyDenied, "the earlier registration of %s is lost", r.Piece)
	}
	if err := save(pieceKey(r.Piece), earlier); err != nil {
		return late(err)
	}
	if _, err := latchwork.KVDelete(beforeKey(call.ExternalKey)); err != nil {
		return late(err)
	}
	return nil
}

func main() {}
