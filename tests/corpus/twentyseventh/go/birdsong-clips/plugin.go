// Package main notes the clips of birdsong that volunteers record. A clip gets a name that is drawn, because the names are
// published before the place of a nest may be known.
package main

import (
	"encoding/json"
	"fmt"
	"time"

	"latchwork"
)

type Clip struct {
	Bird    string  `json:"bird"`
	Seconds float64 `json:"seconds"`
	Place   string  `json:"place"`
	Remarks string  `json:"remarks,omitempty"`
}

type Noted struct {
	Name  string    `json:"name"`
	Noted time.Time `json:"noted"`
}

type entry struct {
	Clip
	Noted time.Time `json:"noted"`
}

// An entry of the map has at most 64 KiB, in bytes.
const largest = 64 << 10

func init() {
	latchwork.Tool("Birdsong.Note", latchwork.Spec{
		Description: "Notes a clip of birdsong under a name that is drawn.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
		// Neither keyed nor queryable: a call whose answer was lost is left to a person.
	}, note).Verify(check).Compensate(remove)
}

func note(call *latchwork.Invocation, clip Clip) (Noted, error) {
	if clip.Bird == "" || clip.Place == "" {
		return Noted{}, latchwork.Fail(latchwork.InvalidInput, "bird or place is missing")
	}
	if clip.Seconds <= 0 || clip.Seconds > 3600 {
		return Noted{}, latchwork.Fail(latchwork.InvalidInput, "a clip has up to an hour, not %g seconds", clip.Seconds)
	}
	made := Noted{Name: "clip-" + latchwork.UUID(), Noted: time.Now().UTC().Truncate(time.Second)}
	text, err := json.Marshal(entry{clip, made.Noted})
	if err != nil {
		return Noted{}, latchwork.Fail(latchwork.InvalidInput, "the clip cannot be kept: %w", err)
	}
	if len(text) > largest {
		return Noted{}, latchwork.Fail(latchwork.InvalidInput, "the remarks are too long by %d bytes", len(text)-largest)
	}
	if err := latchwork.KVSet(made.Name, text); err != nil {
		return Noted{}, err
	}
	if call.TriesBefore > 0 {
		fmt.Println("noted", made.Name, "in try", call.TriesBefore+1)
	}
	call.Receipt(made)
	call.Changed(latchwork.Change{ResourceType: "clip", ResourceID: made.Name, Operation: "create", Version: made.Noted.Format(time.RFC3339)})
	return made, nil
}

// read returns the entry of a clip, or nil if there is none.
func read(name string) (*entry, error) {
	text, found, err := latchwork.KVGet(name)
	if err != nil || !found {
		return nil, err
	}
	var one entry
	if err := json.Unmarshal(text, &one); err != nil {
		return nil, latchwork.Fail(latchwork.PolicyDenied, "the entry of %s cannot be read: %w", name, err)
	}
	return &one, nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	one, err := read(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case one == nil:
		return "the clip is missing", nil
	case one.Noted.Format(time.RFC3339) != change.Version:
		return "the clip was noted at another time", nil
	}
	return "", nil
}

// remove finds the clip by the name in the result: nothing in the map has the key of the call.
func remove(call *latchwork.Invocation, clip Clip, made Noted) error {
	one, err := read(made.Name)
	if err != nil {
		return err
	}
	if one == nil || one.Clip != clip || !one.Noted.Equal(made.Noted) {
		return latchwork.Fail(latchwork.PolicyDenied, "the clip %s was changed or removed", made.Name)
	}
	was, err := latchwork.KVDelete(made.Name)
	if err != nil {
		return err
	}
	if !was {
		return latchwork.Fail(latchwork.PolicyDenied, "the clip %s was removed meanwhile", made.Name)
	}
	call.Changed(latchwork.Change{ResourceType: "clip", ResourceID: made.Name, Operation: "delete"})
	return nil
}

// main is empty: the host calls the operators.
func main() {}
