// Package main collects the dues of a fencing club for a term.
package main

import (
	"encoding/json"
	"log/slog"

	"latchwork"
)

type Member struct {
	ID    string `json:"id"`
	Cents int64  `json:"cents"`
}

type Term struct {
	Term    string   `json:"term"`
	Members []Member `json:"members"`
}

type Charge struct {
	Account string `json:"account"`
	Cents   int64  `json:"cents"`
	Text    string `json:"text"`
}

type Charged struct {
	Booking string `json:"booking"`
}

type Collected struct {
	Term     string   `json:"term"`
	Cents    int64    `json:"cents"`
	Bookings []string `json:"bookings"`
	Exempt   int      `json:"exempt"`
}

func init() {
	latchwork.Step("Fencing.Collect", latchwork.Spec{
		Description: "Books the dues of a term.",
		Effects:     []latchwork.Effect{latchwork.ExternalWrite},
		Determinism: latchwork.External,
	}, collect)
}

func collect(_ latchwork.Context, term Term) (Collected, error) {
	if term.Term == "" {
		return Collected{}, latchwork.Fail(latchwork.InvalidInput, "the term is missing")
	}
	for _, member := range term.Members {
		if member.ID == "" || member.Cents < 0 {
			return Collected{}, latchwork.Fail(latchwork.InvalidInput, "member %q pays %d cents", member.ID, member.Cents)
		}
	}

	made := Collected{Term: term.Term, Bookings: []string{}}
	booked := map[string]bool{}
	for _, member := range term.Members {
		if member.Cents == 0 {
			made.Exempt++
			continue
		}
		key, err := bookingKey(term.Term, member.ID)
		if err != nil {
			return Collected{}, err
		}
		// One booking for a member and a term: a list in which a member stands twice is wrong.
		if booked[key] {
			return Collected{}, latchwork.Fail(latchwork.InvalidInput, "member %s is listed twice", member.ID)
		}
		charged, err := latchwork.Call[Charged]("Ledger.Charge", Charge{member.ID, member.Cents, "dues " + term.Term}, key)
		if err != nil {
			return Collected{}, err
		}
		booked[key] = true
		made.Bookings = append(made.Bookings, charged.Booking)
		made.Cents += member.Cents
	}
	slog.Info("dues collected", "term", term.Term, "bookings", len(made.Bookings))
	return made, nil
}

// bookingKey is the action key of a booking: a member pays once for a term.
func bookingKey(term, member string) (string, error) {
	key, err := json.Marshal([]string{"fencing dues", term, member})
	return string(key), err
}

// main is empty: the host calls the operators.
func main() {}
