package main

import (
	"encoding/json"
	"time"

	"latchwork"
)

type Scan struct {
	Parcel string `json:"parcel"`
	Place  string `json:"place"`
}

type Scanned struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
}

// entry is what the map keeps of a scan. It is never removed.
type entry struct {
	Scan
	At time.Time `json:"at"`
}

func init() {
	latchwork.Tool("Parcel.Scan", latchwork.Spec{
		Description:     "Records that a parcel was seen at a place.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 30 * 24 * time.Hour,
	}, scan)
}

func scan(call *latchwork.Invocation, seen Scan) (Scanned, error) {
	if seen.Parcel == "" || len(seen.Parcel)+len(seen.Place) > 1000 {
		return Scanned{}, latchwork.Fail(latchwork.InvalidInput, "the parcel has no number, or the scan is too long")
	}
	name := "scan:" + call.ExternalKey
	stored, found, err := latchwork.KVGet(name)
	if err != nil {
		return Scanned{}, err
	}
	made := entry{seen, time.Now().UTC()}
	if found {
		// The call is repeated under its key: its scan is there already.
		if err := json.Unmarshal(stored, &made); err != nil {
			return Scanned{}, latchwork.Fail(latchwork.SchemaValidationFailed, "the stored scan: %w", err)
		}
	} else {
		value, err := json.Marshal(made)
		if err != nil {
			return Scanned{}, err
		}
		if err := latchwork.KVSet(name, value); err != nil {
			return Scanned{}, err
		}
	}
	call.Changed(latchwork.Change{ResourceType: "scan", ResourceID: call.ExternalKey, Operation: "create"})
	return Scanned{call.ExternalKey, made.At}, nil
}

// main is empty: the host calls the operators.
func main() {}
