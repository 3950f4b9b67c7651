package main

import (
	"encoding/json"
	"time"

	"latchwork"
)

type Delivery struct {
	Species string `json:"species"`
	Grams   int    `json:"grams"`
}

type Lot struct {
	Species  string `json:"species"`
	Grams    int    `json:"grams"`
	StoredAt string `json:"stored_at"`
}

type Stored struct {
	Lot string `json:"lot"`
	// StoredAt is the time at which the lot came into the vault.
	StoredAt string `json:"stored_at"`
}

type Asked struct {
	Lot string `json:"lot"`
}

func init() {
	latchwork.Tool("Seeds.Store", latchwork.Spec{
		Description: "Stores a lot of seeds in the book of the vault.",
		Input: latchwork.Schema(`{"type":"object","required":["species","grams"],"additionalProperties":false,"properties":{
			"species":{"type":"string","minLength":1,"maxLength":1000},"grams":{"type":"integer","minimum":1,"maximum":1000000}}}`),
		Output: latchwork.Schema(`{"type":"object","required":["lot","stored_at"],"additionalProperties":false,"properties":{
			"lot":{"type":"string"},"stored_at":{"type":"string"}}}`),
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 72 * time.Hour,
	}, store).Verify(inspect)
	latchwork.Tool("Seeds.Show", latchwork.Spec{
		Description: "Shows a lot of seeds in the book of the vault.",
		Input: latchwork.Schema(`{"type":"object","required":["lot"],"additionalProperties":false,"properties":{
			"lot":{"type":"string","pattern":"^[A-Za-z0-9_:/~-]{1,128}$"}}}`),
		Output: latchwork.Schema(`{"type":"object","required":["species","grams","stored_at"],"additionalProperties":false,"properties":{
			"species":{"type":"string"},"grams":{"type":"integer"},"stored_at":{"type":"string"}}}`),
	}, show)
}

func read(lot string) (*Lot, error) {
	value, found, err := latchwork.KVGet("lot/" + lot)
	if err != nil || !found {
		return nil, err
	}
	var known Lot
	if err := json.Unmarshal(value, &known); err != nil {
		return nil, latchwork.Fail(latchwork.DependencyUnavailable, "the book has an unreadable lot %s: %w", lot, err)
	}
	return &known, nil
}

func store(call *latchwork.Invocation, delivery Delivery) (Stored, error) {
	known, err := read(call.ExternalKey)
	if err != nil {
		return Stored{}, err
	}
	// The lot is in the book already: its time of arrival stays.
	if known != nil {
		return Stored{call.ExternalKey, known.StoredAt}, nil
	}
	lot := Lot{delivery.Species, delivery.Grams, time.Now().UTC().Format(time.RFC3339Nano)}
	value, err := json.Marshal(lot)
	if err != nil {
		return Stored{}, err
	}
	if err := latchwork.KVSet("lot/"+call.ExternalKey, value); err != nil {
		return Stored{}, err
	}
	call.Changed(latchwork.Change{ResourceType: "lot", ResourceID: call.ExternalKey, Operation: "create", Version: lot.StoredAt})
	return Stored{call.ExternalKey, lot.StoredAt}, nil
}

func inspect(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	known, err := read(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case known == nil:
		return "the lot is not in the book", nil
	case known.StoredAt != change.Version:
		return "the lot was stored at " + known.StoredAt, nil
	}
	return "", nil
}

func show(_ *latchwork.Invocation, asked Asked) (Lot, error) {
	known, err := read(asked.Lot)
	if err != nil {
		return Lot{}, err
	}
	if known == nil {
		return Lot{}, latchwork.Fail(latchwork.InvalidInput, "there is no lot %s", asked.Lot)
	}
	return *known, nil
}

func main() {}
