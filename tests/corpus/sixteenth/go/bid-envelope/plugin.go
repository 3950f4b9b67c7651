// Command bid-envelope takes sealed bids until a tender closes.
package main

import (
	"encoding/json"
	"strings"
	"time"

	"latchwork"
)

type Bid struct {
	Tender string    `json:"tender"`
	Bidder string    `json:"bidder"`
	Cents  int64     `json:"cents"`
	Closes time.Time `json:"closes"`
}

type Taken struct {
	Bid string `json:"bid"`
	At  string `json:"at"`
}

// envelope is the entry of a bid: the bid with the time at which it was taken.
type envelope struct {
	Bid
	At string `json:"at"`
}

func init() {
	latchwork.Tool("Bid.Take", latchwork.Spec{
		Description:     "Takes a sealed bid, if the tender is still open.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 72 * time.Hour,
	}, take).Reconcile(find).Verify(check).Compensate(giveBack)
}

func take(call *latchwork.Invocation, bid Bid) (Taken, error) {
	if strings.TrimSpace(bid.Tender) == "" || strings.TrimSpace(bid.Bidder) == "" {
		return Taken{}, latchwork.Fail(latchwork.InvalidInput, "the tender or the bidder is missing")
	}
	if len(bid.Tender)+len(bid.Bidder) > 1000 {
		return Taken{}, latchwork.Fail(latchwork.InvalidInput, "the names have more than 1000 bytes")
	}
	if bid.Cents <= 0 || bid.Cents > 1_000_000_000_000 {
		return Taken{}, latchwork.Fail(latchwork.InvalidInput, "a bid of %d cents is not possible", bid.Cents)
	}
	kept, found, err := open(call.ExternalKey)
	if err != nil {
		return Taken{}, err
	}
	if found {
		return taken(call, kept), nil
	}
	now := time.Now()
	if now.After(bid.Closes) {
		return Taken{}, latchwork.Fail(latchwork.PolicyDenied, "the tender %s is closed", bid.Tender)
	}
	kept = envelope{bid, now.UTC().Format(time.RFC3339)}
	value, err := json.Marshal(kept)
	if err != nil {
		return Taken{}, err
	}
	if err := latchwork.KVSet("bid/"+call.ExternalKey, value); err != nil {
		return Taken{}, err
	}
	return taken(call, kept), nil
}

// find is called if the call can no longer be repeated, and finds out whether the bid was taken.
func find(call *latchwork.Invocation, _ Bid) (latchwork.Verdict, error) {
	kept, found, err := open(call.ExternalKey)
	switch {
	case err != nil:
		return latchwork.Unknown, err
	case !found:
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(taken(call, kept)), nil
}

// check is called when a job is resumed. It returns "" if the bid is still there as it was taken.
func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	kept, found, err := open(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the bid is missing", nil
	case kept.At != change.Version:
		return "the bid was taken at " + kept.At, nil
	}
	return "", nil
}

// giveBack is called when the job is cancelled or undone. A bid of a closed tender stays.
func giveBack(call *latchwork.Invocation, bid Bid, result Taken) error {
	kept, found, err := open(call.ExternalKey)
	if err != nil {
		return err
	}
	if !found || kept.At != result.At {
		return latchwork.Fail(latchwork.PolicyDenied, "the bid was changed or given back")
	}
	if time.Now().After(bid.Closes) {
		return latchwork.Fail(latchwork.PolicyDenied, "the tender %s is closed", bid.Tender)
	}
	gone, err := latchwork.KVDelete("bid/" + call.ExternalKey)
	if err != nil {
		return err
	}
	if !gone {
		return latchwork.Fail(latchwork.PolicyDenied, "the bid was given back")
	}
	call.Changed(latchwork.Change{ResourceType: "bid", ResourceID: call.ExternalKey, Operation: "delete"})
	return nil
}

func taken(call *latchwork.Invocation, kept envelope) Taken {
	call.Receipt(map[string]string{"tender": kept.Tender, "at": kept.At})
	call.Changed(latchwork.Change{
		ResourceType: "bid", ResourceID: call.ExternalKey, Operation: "create", Version: kept.At,
	})
	return Taken{call.ExternalKey, kept.At}
}

// open reads the envelope of a bid.
func open(key string) (kept envelope, found bool, err error) {
	value, found, err := latchwork.KVGet("bid/" + key)
	if err != nil || !found {
		return kept, false, err
	}
	if err := json.Unmarshal(value, &kept); err != nil {
		return kept, false, latchwork.Fail(latchwork.DependencyUnavailable, "the bid cannot be read: %w", err)
	}
	return kept, true, nil
}

// main is empty: the host calls the operators.
func main() {}
