package main

import (
	"encoding/json"
	"time"

	"latchwork"
)

type Found struct {
	Flight      string `json:"flight"`
	Description string `json:"description"`
}

type Bag struct {
	Flight      string `json:"flight"`
	Description string `json:"description"`
	Tag         string `json:"tag"`
	FoundAt     string `json:"found_at"`
}

type Recorded struct {
	Bag     string `json:"bag"`
	Tag     string `json:"tag"`
	FoundAt string `json:"found_at"`
}

type Asked struct {
	Bag string `json:"bag"`
}

func init() {
	latchwork.Tool("Luggage.Record", latchwork.Spec{
		Description: "Records a bag that was found, with a tag of its own.",
		Input: latchwork.Schema(`{"type":"object","required":["flight","description"],"additionalProperties":false,"properties":{
			"flight":{"type":"string","pattern":"^[A-Z0-9]{3,8}$"},"description":{"type":"string","maxLength":4000}}}`),
		Output: latchwork.Schema(`{"type":"object","required":["bag","tag","found_at"],"additionalProperties":false,"properties":{
			"bag":{"type":"string"},"tag":{"type":"string"},"found_at":{"type":"string"}}}`),
		Effects: []latchwork.Effect{latchwork.InternalWrite},
	}, record).Reconcile(find).Verify(inspect).Compensate(remove)
	latchwork.Tool("Luggage.Show", latchwork.Spec{
		Description: "Shows a bag that was found.",
		Input: latchwork.Schema(`{"type":"object","required":["bag"],"additionalProperties":false,"properties":{
			"bag":{"type":"string","pattern":"^[A-Za-z0-9_:/~-]{1,128}$"}}}`),
		Output: latchwork.Schema(`{"type":"object","required":["flight","description","tag","found_at"],"additionalProperties":false,"properties":{
			"flight":{"type":"string"},"description":{"type":"string"},"tag":{"type":"string"},"found_at":{"type":"string"}}}`),
	}, show)
}

func entry(bag string) string { return "bag/" + bag }

// read returns the bag, or nil if no such bag was recorded.
func read(bag string) (*Bag, error) {
	value, found, err := latchwork.KVGet(entry(bag))
	if err != nil || !found {
		return nil, err
	}
	var known Bag
	if err := json.Unmarshal(value, &known); err != nil {
		return nil, latchwork.Fail(latchwork.DependencyUnavailable, "the record of bag %s cannot be read: %w", bag, err)
	}
	return &known, nil
}

func recorded(call *latchwork.Invocation, bag Bag) Recorded {
	call.Changed(latchwork.Change{ResourceType: "bag", ResourceID: call.ExternalKey, Operation: "create", Version: bag.Tag})
	return Recorded{call.ExternalKey, bag.Tag, bag.FoundAt}
}

func record(call *latchwork.Invocation, found Found) (Recorded, error) {
	bag := Bag{found.Flight, found.Description, latchwork.UUID(), time.Now().UTC().Format(time.RFC3339)}
	value, err := json.Marshal(bag)
	if err != nil {
		return Recorded{}, err
	}
	if err := latchwork.KVSet(entry(call.ExternalKey), value); err != nil {
		return Recorded{}, err
	}
	return recorded(call, bag), nil
}

// find takes tag and time from the record, because they were chosen when the bag was recorded.
func find(call *latchwork.Invocation, _ Found) (latchwork.Verdict, error) {
	bag, err := read(call.ExternalKey)
	switch {
	case err != nil:
		return latchwork.Unknown, err
	case bag == nil:
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(recorded(call, *bag)), nil
}

func inspect(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	bag, err := read(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case bag == nil:
		return "the bag is not recorded", nil
	case bag.Tag != change.Version:
		return "the bag has the tag " + bag.Tag, nil
	}
	return "", nil
}

func remove(call *latchwork.Invocation, _ Found, result Recorded) error {
	bag, err := read(call.ExternalKey)
	if err != nil {
		return unchanged(err)
	}
	if bag == nil || bag.Tag != result.Tag {
		return latchwork.Fail(latchwork.PolicyDenied, "the bag %s is not recorded with the tag %s any more", call.ExternalKey, result.Tag)
	}
	was, err := latchwork.KVDelete(entry(call.ExternalKey))
	if err != nil {
		return err
	}
	if !was {
		return latchwork.Fail(latchwork.PolicyDenied, "the bag %s was removed meanwhile", call.ExternalKey)
	}
	call.Changed(latchwork.Change{ResourceType: "bag", ResourceID: call.ExternalKey, Operation: "delete"})
	return nil
}

// unchanged marks an error of a read before the first change.
func unchanged(err error) error {
	if failure, ok := err.(*latchwork.Failure); ok {
		failure.Applied = latchwork.AppliedNo
	}
	return err
}

func show(_ *latchwork.Invocation, asked Asked) (Bag, error) {
	bag, err := read(asked.Bag)
	if err != nil {
		return Bag{}, err
	}
	if bag == nil {
		return Bag{}, latchwork.Fail(latchwork.InvalidInput, "there is no bag %s", asked.Bag)
	}
	return *bag, nil
}

func main() {}
