// Command jetty-pass issues and checks the passes of boats at a jetty.
package main

import (
	"encoding/json"
	"strings"
	"time"

	"latchwork"
)

type Boat struct {
	Boat  string    `json:"boat"`
	Until time.Time `json:"until"`
}

type Issued struct {
	Pass string `json:"pass"`
}

type Pass struct {
	Pass string `json:"pass"`
}

type Checked struct {
	Valid bool   `json:"valid"`
	Boat  string `json:"boat,omitempty"`
}

func init() {
	latchwork.Tool("Pass.Issue", latchwork.Spec{
		Description: "Issues the pass of a boat.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, issue)
	latchwork.Tool("Pass.Check", latchwork.Spec{
		Description: "Says whether a pass is valid.",
		Effects:     []latchwork.Effect{latchwork.ReadOnly},
	}, check)
}

// entry returns the name of the entry of a pass.
func entry(pass string) string { return "pass/" + pass }

func issue(call *latchwork.Invocation, boat Boat) (Issued, error) {
	boat.Boat = strings.TrimSpace(boat.Boat)
	if boat.Boat == "" || len(boat.Boat) > 200 {
		return Issued{}, latchwork.Fail(latchwork.InvalidInput, "a boat has a name of 1 to 200 bytes")
	}
	if !boat.Until.After(time.Now()) {
		return Issued{}, latchwork.Fail(latchwork.InvalidInput, "the pass ends on %s", boat.Until.Format(time.DateOnly))
	}
	value, err := json.Marshal(boat)
	if err != nil {
		return Issued{}, err
	}
	if err := latchwork.KVSet(entry(call.ExternalKey), value); err != nil {
		return Issued{}, err
	}
	call.Changed(latchwork.Change{ResourceType: "pass", ResourceID: call.ExternalKey, Operation: "create"})
	return Issued{call.ExternalKey}, nil
}

// check reads a pass. It removes a pass that has ended, so that the map stays small.
func check(_ *latchwork.Invocation, in Pass) (Checked, error) {
	if in.Pass == "" || len(in.Pass) > 128 {
		return Checked{}, latchwork.Fail(latchwork.InvalidInput, "a pass has a key of 1 to 128 bytes")
	}
	value, found, err := latchwork.KVGet(entry(in.Pass))
	if err != nil || !found {
		return Checked{}, err
	}
	var boat Boat
	if err := json.Unmarshal(value, &boat); err != nil {
		return Checked{}, latchwork.Fail(latchwork.DependencyUnavailable, "the pass cannot be read: %w", err)
	}
	if boat.Until.After(time.Now()) {
		return Checked{true, boat.Boat}, nil
	}
	if _, err := latchwork.KVDelete(entry(in.Pass)); err != nil {
		return Checked{}, err
	}
	return Checked{Boat: boat.Boat}, nil
}

// main is empty: the host calls the operators.
func main() {}
