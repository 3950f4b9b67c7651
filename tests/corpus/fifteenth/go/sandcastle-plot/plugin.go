package main

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"latchwork"
)

type Team struct {
	Team   string `json:"team"`
	Size   int    `json:"size"`
	Towers int    `json:"towers"`
}

type Plot struct {
	Plot  string    `json:"plot"`
	Token string    `json:"token"`
	At    time.Time `json:"at"`
}

func init() {
	latchwork.Tool("Sandcastle.Enter", latchwork.Spec{
		Description: "Enters a team into the sandcastle contest.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, enter).Reconcile(find).Compensate(leave)
}

func nameOf(call *latchwork.Invocation) string { return "plot " + call.ExternalKey }

// read returns the stored plot of the call, or nil if there is none.
func read(call *latchwork.Invocation) (*Plot, error) {
	text, found, err := latchwork.KVGet(nameOf(call))
	if err != nil || !found {
		return nil, err
	}
	plot := new(Plot)
	if json.Unmarshal(text, plot) != nil {
		return nil, latchwork.Fail(latchwork.DependencyUnavailable, "the plot cannot be read")
	}
	return plot, nil
}

func entered(call *latchwork.Invocation, plot Plot) Plot {
	call.Receipt(map[string]string{"token": plot.Token})
	call.Changed(latchwork.Change{ResourceType: "plot", ResourceID: plot.Plot, Operation: "create", Version: plot.Token})
	return plot
}

func enter(call *latchwork.Invocation, team Team) (Plot, error) {
	if strings.TrimSpace(team.Team) == "" || team.Size < 1 || team.Size > 12 || team.Towers < 0 || team.Towers > 30 {
		return Plot{}, latchwork.Fail(latchwork.InvalidInput, "a team has a name, 1 to 12 people and at most 30 towers")
	}
	// The call is not repeated if it took effect, so the token may be random.
	var token [8]byte
	if _, err := rand.Read(token[:]); err != nil {
		return Plot{}, latchwork.Fail(latchwork.TransientDBLock, "no random numbers: %w", err)
	}
	plot := Plot{nameOf(call), hex.EncodeToString(token[:]), time.Now().UTC().Truncate(time.Second)}
	text, err := json.Marshal(plot)
	if err != nil {
		return Plot{}, err
	}
	if err := latchwork.KVSet(plot.Plot, text); err != nil {
		return Plot{}, err
	}
	return entered(call, plot), nil
}

// find returns the plot as it was stored, with the token and the time of the call.
func find(call *latchwork.Invocation, _ Team) (latchwork.Verdict, error) {
	plot, err := read(call)
	if err != nil {
		return latchwork.Unknown, err
	}
	if plot == nil {
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(entered(call, *plot)), nil
}

// leave removes the plot. A plot with another token belongs to another entry.
func leave(call *latchwork.Invocation, _ Team, made Plot) error {
	plot, err := read(call)
	if err != nil {
		var failure *latchwork.Failure
		if errors.As(err, &failure) {
			failure.Applied = latchwork.AppliedNo
		}
		return err
	}
	if plot == nil || plot.Token != made.Token {
		return latchwork.Fail(latchwork.PolicyDenied, "the plot was given to another team")
	}
	was, err := latchwork.KVDelete(nameOf(call))
	if err != nil {
		return err
	}
	if !was {
		return latchwork.Fail(latchwork.PolicyDenied, "the plot was removed")
	}
	call.Changed(latchwork.Change{ResourceType: "plot", ResourceID: nameOf(call), Operation: "delete", Version: made.Token})
	return nil
}

// main is empty: the host calls the operators.
func main() {}
