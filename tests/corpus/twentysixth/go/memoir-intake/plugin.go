// Package main stores memoirs. The parts of a memoir are written first. The index entry, which is written last, makes
// the memoir visible: a memoir without an index does not exist.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"latchwork"
)

const partBytes = 50_000

type Memoir struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

type Index struct {
	Title      string    `json:"title"`
	Parts      int       `json:"parts"`
	Characters int       `json:"characters"`
	At         time.Time `json:"at"`
}

type Stored struct {
	Memoir     string    `json:"memoir"`
	Parts      int       `json:"parts"`
	Characters int       `json:"characters"`
	At         time.Time `json:"at"`
}

func init() {
	latchwork.Tool("Memoir.Store", latchwork.Spec{
		Description: "Stores a memoir.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, store).Reconcile(find)
}

func store(call *latchwork.Invocation, memoir Memoir) (Stored, error) {
	if memoir.Title == "" || len(memoir.Title) > 500 {
		return Stored{}, latchwork.Fail(latchwork.InvalidInput, "a title has 1 to 500 bytes")
	}
	if memoir.Text == "" {
		return Stored{}, latchwork.Fail(latchwork.InvalidInput, "the memoir is empty")
	}
	index := Index{memoir.Title, 0, utf8.RuneCountInString(memoir.Text), time.Now().UTC()}
	for rest := memoir.Text; rest != ""; index.Parts++ {
		part := rest[:min(partBytes, len(rest))]
		rest = rest[len(part):]
		// No external key has the sign #.
		err := latchwork.KVSet(fmt.Sprintf("%s#%d", call.ExternalKey, index.Parts), []byte(part))
		if err != nil && index.Parts > 0 {
			return Stored{}, inDoubt(err)
		}
		if err != nil {
			return Stored{}, err
		}
	}
	entry, err := json.Marshal(index)
	if err != nil {
		return Stored{}, inDoubt(err)
	}
	if err := latchwork.KVSet(call.ExternalKey, entry); err != nil {
		return Stored{}, inDoubt(err)
	}
	return stored(call, index), nil
}

// inDoubt is for failures after the first write.
func inDoubt(err error) error {
	var failure *latchwork.Failure
	if !errors.As(err, &failure) {
		failure = latchwork.Fail(latchwork.DependencyUnavailable, "%w", err)
	}
	failure.Applied = latchwork.AppliedUnknown
	return failure
}

// find reads the index alone: parts without an index are no memoir, and the next try writes them again.
func find(call *latchwork.Invocation, _ Memoir) (latchwork.Verdict, error) {
	entry, found, err := latchwork.KVGet(call.ExternalKey)
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	var index Index
	if err := json.Unmarshal(entry, &index); err != nil {
		return latchwork.Unknown, err
	}
	return latchwork.Happened(stored(call, index)), nil
}

func stored(call *latchwork.Invocation, index Index) Stored {
	call.Changed(latchwork.Change{
		ResourceType: "memoir", ResourceID: call.ExternalKey, Operation: "create", Version: index.At.Format(time.RFC3339Nano),
	})
	return Stored{call.ExternalKey, index.Parts, index.Characters, index.At}
}

func main() {}
