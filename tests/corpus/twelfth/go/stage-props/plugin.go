package main

import (
	"errors"

	"latchwork"
)

type Prop struct {
	Name  string `json:"name"`
	Shelf string `json:"shelf"`
	Notes string `json:"notes"`
}

type Shelved struct {
	Record string `json:"record"`
}

type Dropped struct {
	Dropped bool `json:"dropped"`
}

func init() {
	latchwork.Tool("Prop.Shelve", latchwork.Spec{
		Description: "Shelves a stage prop: keeps its notes and its tag.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, shelve).Reconcile(find).Compensate(unshelve)
	latchwork.Tool("Prop.DropNotes", latchwork.Spec{
		Description: "Drops the notes of a shelved prop.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, dropNotes)
}

func shelve(call *latchwork.Invocation, prop Prop) (Shelved, error) {
	if prop.Name == "" || prop.Shelf == "" || len(prop.Name)+len(prop.Shelf) > 500 || len(prop.Notes) > 20000 {
		return Shelved{}, latchwork.Fail(latchwork.InvalidInput, "a prop needs a name, a shelf and notes of at most 20000 bytes")
	}
	if err := latchwork.KVSet("notes#"+call.ExternalKey, []byte(prop.Notes)); err != nil {
		return Shelved{}, err
	}
	// The tag is written last: a prop without a tag is not on a shelf.
	if err := latchwork.KVSet("tag#"+call.ExternalKey, []byte(tag(prop))); err != nil {
		return Shelved{}, begun(err)
	}
	return shelved(call), nil
}

func find(call *latchwork.Invocation, _ Prop) (latchwork.Verdict, error) {
	_, found, err := latchwork.KVGet("tag#" + call.ExternalKey)
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(shelved(call)), nil
}

// unshelve is called when the job is cancelled or undone.
func unshelve(call *latchwork.Invocation, prop Prop, _ Shelved) error {
	have, found, err := latchwork.KVGet("tag#" + call.ExternalKey)
	if err != nil {
		return err
	}
	if !found || string(have) != tag(prop) {
		return latchwork.Fail(latchwork.PolicyDenied, "the tag of %s was changed or removed", prop.Name)
	}
	notes, kept, err := latchwork.KVGet("notes#" + call.ExternalKey)
	if err != nil {
		return err
	}
	if kept && string(notes) != prop.Notes {
		return latchwork.Fail(latchwork.PolicyDenied, "the notes of %s were changed", prop.Name)
	}
	was, err := latchwork.KVDelete("tag#" + call.ExternalKey)
	if err != nil {
		return err
	}
	if !was {
		return latchwork.Fail(latchwork.PolicyDenied, "the tag of %s was removed", prop.Name)
	}
	was, err = latchwork.KVDelete("notes#" + call.ExternalKey)
	if err != nil {
		return begun(err)
	}
	if !was {
		return latchwork.Fail(latchwork.PolicyDenied, "the notes of %s were removed", prop.Name)
	}
	call.Changed(latchwork.Change{ResourceType: "prop", ResourceID: call.ExternalKey, Operation: "delete"})
	return nil
}

func dropNotes(call *latchwork.Invocation, prop Shelved) (Dropped, error) {
	_, found, err := latchwork.KVGet("tag#" + prop.Record)
	if err != nil {
		return Dropped{}, err
	}
	if !found {
		return Dropped{}, latchwork.Fail(latchwork.MissingRequiredContext, "no prop has the record %s", prop.Record)
	}
	was, err := latchwork.KVDelete("notes#" + prop.Record)
	if err != nil {
		return Dropped{}, err
	}
	if was {
		call.Changed(latchwork.Change{ResourceType: "notes", ResourceID: prop.Record, Operation: "delete"})
	}
	return Dropped{was}, nil
}

func shelved(call *latchwork.Invocation) Shelved {
	call.Changed(latchwork.Change{ResourceType: "prop", ResourceID: call.ExternalKey, Operation: "create"})
	return Shelved{call.ExternalKey}
}

func tag(prop Prop) string { return prop.Shelf + ": " + prop.Name }

// begun marks the failure of a call that has changed something.
func begun(err error) error {
	var failure *latchwork.Failure
	if errors.As(err, &failure) {
		failure.Applied = latchwork.AppliedUnknown
	}
	return err
}

// main is empty: the host calls the operators.
func main() {}
