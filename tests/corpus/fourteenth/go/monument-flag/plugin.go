// Command monument-flag marks monuments that need protection, such as a cover in winter.
package main

import (
	"encoding/json"
	"slices"
	"strings"

	"latchwork"
)

type Flag struct {
	Monument string `json:"monument"`
	Need     string `json:"need"`
	Remark   string `json:"remark,omitempty"`
}

type Raised struct {
	Flag     string `json:"flag"`
	Priority int    `json:"priority"`
}

// needs lists the kinds of protection, the most urgent one first.
var needs = []string{"prop", "cover", "fence", "cleaning"}

func init() {
	latchwork.Tool("Monument.Flag", latchwork.Spec{
		Description: "Marks a monument that needs protection.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, raise).Reconcile(find).Verify(check)
}

func entry(key string) string { return "flag/" + key }

func raise(call *latchwork.Invocation, flag Flag) (Raised, error) {
	if strings.TrimSpace(flag.Monument) == "" || len(flag.Monument)+len(flag.Remark) > 4000 {
		return Raised{}, latchwork.Fail(latchwork.InvalidInput, "the monument has no name, or the texts are too long")
	}
	if !slices.Contains(needs, flag.Need) {
		return Raised{}, latchwork.Fail(latchwork.InvalidInput, "the need %q is not known", flag.Need)
	}
	value, err := json.Marshal(flag)
	if err != nil {
		return Raised{}, latchwork.Fail(latchwork.InvalidInput, "the flag cannot be stored: %w", err)
	}
	if err := latchwork.KVSet(entry(call.ExternalKey), value); err != nil {
		return Raised{}, err
	}
	return raised(call, flag, string(value)), nil
}

// find is called after a crash and looks for the flag of the call.
func find(call *latchwork.Invocation, flag Flag) (latchwork.Verdict, error) {
	value, found, err := latchwork.KVGet(entry(call.ExternalKey))
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(raised(call, flag, string(value))), nil
}

// check compares the flag in the map with the recorded one.
func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	value, found, err := latchwork.KVGet(entry(change.ResourceID))
	if err != nil || !found {
		return "the flag is missing", nil
	}
	if string(value) != change.Version {
		return "the flag was changed: " + string(value), nil
	}
	return "", nil
}

func raised(call *latchwork.Invocation, flag Flag, version string) Raised {
	call.Changed(latchwork.Change{
		ResourceType: "flag", ResourceID: call.ExternalKey, Operation: "create", Version: version,
	})
	return Raised{call.ExternalKey, slices.Index(needs, flag.Need) + 1}
}

// main is empty: the host calls the operators.
func main() {}
