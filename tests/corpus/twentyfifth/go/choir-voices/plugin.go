package main

import (
	"encoding/json"
	"strings"

	"latchwork"
)

// Singer joins a choir with a voice.
type Singer struct {
	Name  string `json:"name"`
	Voice string `json:"voice"`
	About string `json:"about,omitempty"`
}

// Joined is the membership of a singer.
type Joined struct {
	Card  string `json:"card"`
	Voice string `json:"voice"`
}

// Question asks for the voice of a singer.
type Question struct {
	Name string `json:"name"`
}

// Seat is the row in which a singer stands.
type Seat struct {
	Name  string `json:"name"`
	Voice string `json:"voice"`
	Row   int    `json:"row"`
}

var rows = map[string]int{"soprano": 1, "alto": 2, "tenor": 3, "bass": 4}

func init() {
	latchwork.Tool("Choir.Join", latchwork.Spec{
		Description: "Takes a singer into the choir.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, join).Reconcile(find)
	latchwork.Tool("Choir.Seat", latchwork.Spec{
		Description: "Shows where a singer stands.",
	}, seat)
}

func singer(name string) string { return "singer " + strings.ToLower(name) }

func join(call *latchwork.Invocation, new Singer) (Joined, error) {
	if rows[new.Voice] == 0 {
		return Joined{}, latchwork.Fail(latchwork.InvalidInput, "the choir has no voice %q", new.Voice)
	}
	if new.Name == "" || len(new.Name) > 200 {
		return Joined{}, latchwork.Fail(latchwork.InvalidInput, "the name has %d bytes", len(new.Name))
	}
	if len(new.About) > 4000 {
		return Joined{}, latchwork.Fail(latchwork.InvalidInput, "the card has room for 4000 bytes about the singer")
	}
	card, err := json.Marshal(new)
	if err != nil {
		return Joined{}, err
	}
	// The seating plan goes by name, the card by the call.
	if err := latchwork.KVSet(singer(new.Name), []byte(new.Voice)); err != nil {
		return Joined{}, err
	}
	if err := latchwork.KVSet(call.ExternalKey, card); err != nil {
		failure := latchwork.Fail(latchwork.DependencyUnavailable, "the card was not filed: %w", err)
		failure.Applied = latchwork.AppliedUnknown
		return Joined{}, failure
	}
	return joined(call, new), nil
}

func joined(call *latchwork.Invocation, new Singer) Joined {
	call.Changed(latchwork.Change{ResourceType: "singer", ResourceID: singer(new.Name), Operation: "update", Version: new.Voice})
	return Joined{call.ExternalKey, new.Voice}
}

// find looks for the card of the call.
func find(call *latchwork.Invocation, new Singer) (latchwork.Verdict, error) {
	_, found, err := latchwork.KVGet(call.ExternalKey)
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(joined(call, new)), nil
}

func seat(_ *latchwork.Invocation, asked Question) (Seat, error) {
	if len(asked.Name) > 200 {
		return Seat{}, latchwork.Fail(latchwork.InvalidInput, "the name has %d bytes", len(asked.Name))
	}
	voice, found, err := latchwork.KVGet(singer(asked.Name))
	if err != nil {
		return Seat{}, err
	}
	if !found {
		return Seat{}, latchwork.Fail(latchwork.InvalidInput, "%s is not in the choir", asked.Name)
	}
	return Seat{asked.Name, string(voice), rows[string(voice)]}, nil
}

func main() {}
