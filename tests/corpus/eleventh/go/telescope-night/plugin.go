package main

import (
	"encoding/json"
	"strings"
	"time"

	"latchwork"
)

type Wish struct {
	Telescope string `json:"telescope"`
	Night     string `json:"night"`
	Observer  string `json:"observer"`
}

type Holder struct {
	Call     string `json:"call"`
	Observer string `json:"observer"`
}

type Night struct {
	Entry    string `json:"entry"`
	Observer string `json:"observer"`
}

func init() {
	latchwork.Tool("Telescope.Assign", latchwork.Spec{
		Description: "Assigns a night at a telescope to an observer.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, assign).Reconcile(find).Compensate(release)
}

func entry(wish Wish) (string, error) {
	if wish.Telescope == "" || len(wish.Telescope) > 60 || strings.Contains(wish.Telescope, "/") {
		return "", latchwork.Fail(latchwork.InvalidInput, "%q is no name of a telescope", wish.Telescope)
	}
	if _, err := time.Parse("2006-01-02", wish.Night); err != nil {
		return "", latchwork.Fail(latchwork.InvalidInput, "%q is no night", wish.Night)
	}
	if strings.TrimSpace(wish.Observer) == "" || len(wish.Observer) > 200 {
		return "", latchwork.Fail(latchwork.InvalidInput, "the observer has no usable name")
	}
	return "night/" + wish.Telescope + "/" + wish.Night, nil
}

func holder(name string) (Holder, bool, error) {
	var made Holder
	text, found, err := latchwork.KVGet(name)
	if err != nil || !found {
		return made, false, err
	}
	if err := json.Unmarshal(text, &made); err != nil {
		return made, false, latchwork.Fail(latchwork.SchemaValidationFailed, "%s: %w", name, err)
	}
	return made, true, nil
}

func assign(call *latchwork.Invocation, wish Wish) (Night, error) {
	name, err := entry(wish)
	if err != nil {
		return Night{}, err
	}
	held, taken, err := holder(name)
	if err != nil {
		return Night{}, err
	}
	if taken && held.Call != call.ExternalKey {
		return Night{}, latchwork.Fail(latchwork.PolicyDenied, "%s has the night of %s", held.Observer, wish.Night)
	}
	text, err := json.Marshal(Holder{call.ExternalKey, wish.Observer})
	if err != nil {
		return Night{}, err
	}
	if err := latchwork.KVSet(name, text); err != nil {
		return Night{}, err
	}
	return Night{name, wish.Observer}, nil
}

func find(call *latchwork.Invocation, wish Wish) (latchwork.Verdict, error) {
	name, err := entry(wish)
	if err != nil {
		return latchwork.Unknown, err
	}
	held, taken, err := holder(name)
	if err != nil {
		return latchwork.Unknown, err
	}
	if !taken || held.Call != call.ExternalKey {
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(Night{name, held.Observer}), nil
}

func release(call *latchwork.Invocation, _ Wish, night Night) error {
	held, taken, err := holder(night.Entry)
	if err != nil {
		return latchwork.Fail(latchwork.PolicyDenied, "the night cannot be read: %w", err)
	}
	if !taken || held.Call != call.ExternalKey {
		return latchwork.Fail(latchwork.PolicyDenied, "the night is not held by this call any more")
	}
	existed, err := latchwork.KVDelete(night.Entry)
	if err != nil {
		return err
	}
	if !existed {
		return latchwork.Fail(latchwork.PolicyDenied, "the night was released by another call")
	}
	return nil
}

func main() {}
