package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"time"

	"latchwork"
)

// Cross is a cross of two orchids in a nursery.
type Cross struct {
	Seed   string `json:"seed"`
	Pollen string `json:"pollen"`
	Notes  string `json:"notes,omitempty"`
}

// Label is the label that is hung on the plant.
type Label struct {
	Label string `json:"label"`
	Day   string `json:"day"`
}

type entry struct {
	Cross Cross  `json:"cross"`
	Day   string `json:"day"`
}

func init() {
	latchwork.Tool("Orchid.Cross", latchwork.Spec{
		Description:     "Registers a cross of two orchids.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 72 * time.Hour,
	}, cross).Reconcile(find).Verify(check).Compensate(remove)
}

func cross(call *latchwork.Invocation, made Cross) (Label, error) {
	if made.Seed == "" || made.Pollen == "" {
		return Label{}, latchwork.Fail(latchwork.InvalidInput, "a cross needs two parents")
	}
	text, found, err := latchwork.KVGet(call.ExternalKey)
	if err != nil {
		return Label{}, err
	}
	if found {
		var known entry
		if err := json.Unmarshal(text, &known); err != nil {
			return Label{}, late(err)
		}
		return Label{call.ExternalKey, known.Day}, nil
	}
	fresh := entry{made, time.Now().UTC().Format(time.DateOnly)}
	text, err = json.Marshal(fresh)
	if err != nil {
		return Label{}, err
	}
	if err := latchwork.KVSet(call.ExternalKey, text); err != nil {
		return Label{}, err
	}
	return registered(call, text, fresh), nil
}

// late is the failure of a call whose cross is registered already.
func late(err error) error {
	failure := latchwork.Fail(latchwork.DependencyUnavailable, "the register is damaged: %w", err)
	failure.Applied = latchwork.AppliedUnknown
	return failure
}

func registered(call *latchwork.Invocation, text []byte, made entry) Label {
	call.Changed(latchwork.Change{ResourceType: "cross", ResourceID: call.ExternalKey, Operation: "create", Version: version(text)})
	return Label{call.ExternalKey, made.Day}
}

func version(text []byte) string {
	sum := fnv.New64a()
	sum.Write(text)
	return fmt.Sprintf("%016x", sum.Sum64())
}

func find(call *latchwork.Invocation, _ Cross) (latchwork.Verdict, error) {
	text, found, err := latchwork.KVGet(call.ExternalKey)
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	var made entry
	if err := json.Unmarshal(text, &made); err != nil {
		return latchwork.Unknown, err
	}
	return latchwork.Happened(registered(call, text, made)), nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the cross is not registered", nil
	case version(text) != change.Version:
		return "the cross has another entry", nil
	}
	return "", nil
}

func remove(call *latchwork.Invocation, made Cross, label Label) error {
	text, found, err := latchwork.KVGet(call.ExternalKey)
	if err != nil {
		return err
	}
	var known entry
	if !found || json.Unmarshal(text, &known) != nil || known != (entry{made, label.Day}) {
		return latchwork.Fail(latchwork.PolicyDenied, "the cross was changed or removed")
	}
	was, err := latchwork.KVDelete(call.ExternalKey)
	if err != nil {
		return err
	}
	if !was {
		return latchwork.Fail(latchwork.PolicyDenied, "the cross was removed")
	}
	call.Changed(latchwork.Change{ResourceType: "cross", ResourceID: call.ExternalKey, Operation: "delete"})
	return nil
}

func main() {}
