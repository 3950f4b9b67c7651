// Records the swap of a meter with a random seal number and the present time. A recorded swap is the source of every
// answer: of the call, of Reconcile and of a repetition. An undone swap stays recorded and is marked.
package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"

	"latchwork"
)

type Swap struct {
	Meter   string `json:"meter"`
	Reading int    `json:"reading"`
}

type Recorded struct {
	Seal string    `json:"seal"`
	At   time.Time `json:"at"`
}

type record struct {
	Meter   string    `json:"meter"`
	Reading int       `json:"reading"`
	Seal    string    `json:"seal"`
	At      time.Time `json:"at"`
	Undone  bool      `json:"undone"`
}

func init() {
	latchwork.Tool("Meter.Swap", latchwork.Spec{
		Description: "Records the swap of a meter.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, swap).Reconcile(find).Verify(check).Compensate(undo)
}

func load(key string) (*record, error) {
	value, found, err := latchwork.KVGet(key)
	if err != nil || !found {
		return nil, err
	}
	kept := &record{}
	if err := json.Unmarshal(value, kept); err != nil {
		return nil, latchwork.Fail(latchwork.DependencyUnavailable, "the record %s is not readable", key)
	}
	return kept, nil
}

func store(key string, kept record) error {
	value, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	return latchwork.KVSet(key, value)
}

func swap(call *latchwork.Invocation, swap Swap) (Recorded, error) {
	if swap.Meter == "" || len(swap.Meter) > 100 || swap.Reading < 0 {
		return Recorded{}, latchwork.Fail(latchwork.InvalidInput, "meter or reading is not valid")
	}
	kept, err := load(call.ExternalKey)
	if err != nil {
		return Recorded{}, err
	}
	if kept == nil {
		var seal [5]byte
		rand.Read(seal[:])
		at := time.Now().UTC().Truncate(time.Second)
		kept = &record{swap.Meter, swap.Reading, fmt.Sprintf("%x", seal), at, false}
		if err := store(call.ExternalKey, *kept); err != nil {
			return Recorded{}, err
		}
	}
	return recorded(call, kept), nil
}

func recorded(call *latchwork.Invocation, kept *record) Recorded {
	call.Receipt(map[string]string{"seal": kept.Seal})
	call.Changed(latchwork.Change{
		ResourceType: "swap", ResourceID: call.ExternalKey, Operation: "create", Version: kept.Seal,
	})
	return Recorded{kept.Seal, kept.At}
}

func find(call *latchwork.Invocation, _ Swap) (latchwork.Verdict, error) {
	kept, err := load(call.ExternalKey)
	if err != nil {
		return latchwork.Unknown, err
	}
	if kept == nil {
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(recorded(call, kept)), nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	kept, err := load(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case kept == nil:
		return "the swap is missing", nil
	case kept.Undone:
		return "the swap was undone", nil
	case kept.Seal != change.Version:
		return "the swap has another seal", nil
	}
	return "", nil
}

func undo(call *latchwork.Invocation, swap Swap, result Recorded) error {
	kept, err := load(call.ExternalKey)
	if err != nil {
		return err
	}
	if kept == nil || kept.Seal != result.Seal || kept.Meter != swap.Meter || kept.Reading != swap.Reading {
		return latchwork.Fail(latchwork.PolicyDenied, "the swap was changed or removed")
	}
	if !kept.Undone {
		kept.Undone = true
		if err := store(call.ExternalKey, *kept); err != nil {
			return err
		}
	}
	call.Changed(latchwork.Change{
		ResourceType: "swap", ResourceID: call.ExternalKey, Operation: "update", Version: kept.Seal,
	})
	return nil
}

// main is empty: the host calls the operators.
func main() {}
