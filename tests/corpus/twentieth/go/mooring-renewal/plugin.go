// Command mooring-renewal renews the moorings of a marina for another season.
package main

import (
	"encoding/json"
	"time"

	"latchwork"
)

// Renewal is the answer of a boat owner to the offer of the marina.
type Renewal struct {
	Mooring string `json:"mooring"`
	Owner   string `json:"owner"`
	Season  int    `json:"season"`
	// OfferUntil is the last day of the offer, such as 2026-03-31.
	OfferUntil string `json:"offer_until"`
}

type Renewed struct {
	Contract string `json:"contract"`
	Mooring  string `json:"mooring"`
	Season   int    `json:"season"`
}

func init() {
	latchwork.Tool("Mooring.Renew", latchwork.Spec{
		Description:     "Renews a mooring for a season.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 14 * 24 * time.Hour,
	}, renew)
}

// valid returns an error if a renewal is not complete.
func valid(in Renewal) error {
	if in.Mooring == "" || len(in.Mooring) > 20 {
		return latchwork.Fail(latchwork.InvalidInput, "the mooring has no number")
	}
	if in.Owner == "" || len(in.Owner) > 200 {
		return latchwork.Fail(latchwork.InvalidInput, "mooring %s has no owner", in.Mooring)
	}
	if in.Season < 2000 || in.Season > 2100 {
		return latchwork.Fail(latchwork.InvalidInput, "%d is no season", in.Season)
	}
	return nil
}

func renew(call *latchwork.Invocation, in Renewal) (Renewed, error) {
	if err := valid(in); err != nil {
		return Renewed{}, err
	}
	until, err := time.Parse(time.DateOnly, in.OfferUntil)
	if err != nil {
		return Renewed{}, latchwork.Fail(latchwork.InvalidInput, "%q is no day: %w", in.OfferUntil, err)
	}
	if time.Now().After(until.AddDate(0, 0, 1)) {
		return Renewed{}, latchwork.Fail(latchwork.InvalidInput, "the offer for %s has ended", in.Mooring)
	}

	// A contract that an earlier try has written is not written again.
	_, found, err := latchwork.KVGet(call.ExternalKey)
	if err != nil {
		return Renewed{}, err
	}
	if !found {
		text, err := json.Marshal(in)
		if err != nil {
			return Renewed{}, latchwork.Fail(latchwork.InvalidInput, "the renewal cannot be kept: %w", err)
		}
		if err := latchwork.KVSet(call.ExternalKey, text); err != nil {
			return Renewed{}, err
		}
	}
	call.Changed(latchwork.Change{ResourceType: "contract", ResourceID: call.ExternalKey, Operation: "create"})
	return Renewed{call.ExternalKey, in.Mooring, in.Season}, nil
}

// main is empty: the host calls the operators.
func main() {}
