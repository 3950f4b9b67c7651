package main

import (
	"encoding/json"
	"fmt"

	"latchwork"
)

// Reading is a reading of a water meter.
type Reading struct {
	Meter  string `json:"meter"`
	Day    string `json:"day"`
	Litres int64  `json:"litres"`
	Reader string `json:"reader"`
}

type Kept struct {
	Reading string `json:"reading"`
	Litres  int64  `json:"litres"`
}

func init() {
	latchwork.Tool("MeterReading.Keep", latchwork.Spec{
		Description: "Keeps a reading of a water meter.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
		Input: latchwork.Schema(`{
  "type": "object", "additionalProperties": false, "required": ["meter", "day", "litres", "reader"],
  "properties": {
    "meter": {"type": "string", "pattern": "^[A-Z]{2}[0-9]{1,8}$"},
    "day": {"type": "string", "pattern": "^20[0-9]{2}-[0-9]{2}-[0-9]{2}$"},
    "litres": {"type": "integer", "minimum": 0, "maximum": 999999999},
    "reader": {"type": "string", "minLength": 1, "maxLength": 80}}}`),
	}, keep).Verify(check).Compensate(remove)
}

func entry(key string) string { return "reading/" + key }

func text(reading Reading) ([]byte, error) {
	made, err := json.Marshal(reading)
	if err != nil {
		return nil, latchwork.Fail(latchwork.InvalidInput, "the reading is not JSON: %w", err)
	}
	return made, nil
}

func keep(call *latchwork.Invocation, reading Reading) (Kept, error) {
	made, err := text(reading)
	if err != nil {
		return Kept{}, err
	}
	id := entry(call.ExternalKey)
	if err := latchwork.KVSet(id, made); err != nil {
		return Kept{}, err
	}
	call.Changed(latchwork.Change{
		ResourceType: "meter-reading", ResourceID: id, Operation: "create",
		Version: fmt.Sprint(reading.Litres), ExternalRef: reading.Meter,
	})
	return Kept{id, reading.Litres}, nil
}

// check compares the entry of a reading with the recorded change.
func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	found, there, err := latchwork.KVGet(change.ResourceID)
	if err != nil || !there {
		return "the reading is not in the register", nil
	}
	var reading Reading
	if err := json.Unmarshal(found, &reading); err != nil {
		return "the entry is no reading", nil
	}
	switch {
	case reading.Meter != change.ExternalRef:
		return "the reading belongs to meter " + reading.Meter, nil
	case fmt.Sprint(reading.Litres) != change.Version:
		return fmt.Sprintf("the reading has %d litres", reading.Litres), nil
	}
	return "", nil
}

// remove takes a reading out of the register, unless it was corrected since.
func remove(call *latchwork.Invocation, reading Reading, kept Kept) error {
	made, err := text(reading)
	if err != nil {
		return err
	}
	found, there, err := latchwork.KVGet(entry(call.ExternalKey))
	if err != nil {
		return err
	}
	if !there || string(found) != string(made) {
		return latchwork.Fail(latchwork.PolicyDenied, "the reading was corrected or removed")
	}
	there, err = latchwork.KVDelete(entry(call.ExternalKey))
	if err != nil {
		return err
	}
	if !there {
		return latchwork.Fail(latchwork.PolicyDenied, "the reading was removed")
	}
	call.Changed(latchwork.Change{ResourceType: "meter-reading", ResourceID: kept.Reading, Operation: "delete"})
	return nil
}

func main() {}
