// Command playbill-board keeps the announcements of a theatre. A screen in the hall shows the latest of them.
package main

import (
	"encoding/json"
	"strings"

	"latchwork"
)

type Play struct {
	Hall  string `json:"hall"`
	Title string `json:"title"`
	Date  string `json:"date"`
}

type Announced struct {
	ID   string `json:"id"`
	Hall string `json:"hall"`
}

type Hall struct {
	Hall string `json:"hall"`
}

type Shown struct {
	Play *Play `json:"play"`
}

func init() {
	latchwork.Tool("Playbill.Announce", latchwork.Spec{
		Description: "Announces a play in a hall.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, announce).Reconcile(find)
	latchwork.Tool("Playbill.Latest", latchwork.Spec{
		Description: "Returns the play that the screen of a hall shows.",
		Effects:     []latchwork.Effect{latchwork.ReadOnly},
	}, latest)
}

// screen returns the entry that the screen of a hall reads.
func screen(hall string) string { return "screen/" + strings.ToLower(hall) }

func announce(call *latchwork.Invocation, play Play) (Announced, error) {
	if len(play.Hall) == 0 || len(play.Hall) > 60 {
		return Announced{}, latchwork.Fail(latchwork.InvalidInput, "a hall has a name of 1 to 60 bytes")
	}
	if play.Title == "" || len(play.Title) > 500 || play.Date == "" || len(play.Date) > 40 {
		return Announced{}, latchwork.Fail(latchwork.InvalidInput, "a play has a title and a date")
	}
	text, err := json.Marshal(play)
	if err != nil {
		return Announced{}, latchwork.Fail(latchwork.InvalidInput, "the play cannot be kept: %w", err)
	}
	if err := latchwork.KVSet(screen(play.Hall), text); err != nil {
		return Announced{}, err
	}
	if err := latchwork.KVSet(call.ExternalKey, text); err != nil {
		failure := latchwork.Fail(latchwork.DependencyUnavailable, "the play is on the screen alone: %w", err)
		failure.Applied = latchwork.AppliedUnknown
		return Announced{}, failure
	}
	return announced(call, play), nil
}

// find is called after a crash and looks up the announcement of the call.
func find(call *latchwork.Invocation, play Play) (latchwork.Verdict, error) {
	_, found, err := latchwork.KVGet(call.ExternalKey)
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(announced(call, play)), nil
}

func announced(call *latchwork.Invocation, play Play) Announced {
	call.Changed(latchwork.Change{ResourceType: "announcement", ResourceID: call.ExternalKey, Operation: "create"})
	return Announced{call.ExternalKey, play.Hall}
}

func latest(_ *latchwork.Invocation, hall Hall) (Shown, error) {
	if len(hall.Hall) == 0 || len(hall.Hall) > 60 {
		return Shown{}, latchwork.Fail(latchwork.InvalidInput, "a hall has a name of 1 to 60 bytes")
	}
	text, found, err := latchwork.KVGet(screen(hall.Hall))
	if err != nil || !found {
		return Shown{}, err
	}
	var play Play
	if err := json.Unmarshal(text, &play); err != nil {
		return Shown{}, latchwork.Fail(latchwork.SchemaValidationFailed, "the screen of %s is damaged: %w", hall.Hall, err)
	}
	return Shown{&play}, nil
}

// main is empty: the host calls the operators.
func main() {}
