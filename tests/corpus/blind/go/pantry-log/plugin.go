package main

import (
	"strings"

	"latchwork"
)

type Jar struct {
	Shelf   string `json:"shelf"`
	Content string `json:"content"`
}

type Stored struct {
	Jar string `json:"jar"`
}

func init() {
	latchwork.Tool("PantryLog.Store", latchwork.Spec{
		Description: "Stores a jar on a shelf of the pantry.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, store).Reconcile(find)
}

func store(call *latchwork.Invocation, jar Jar) (Stored, error) {
	if jar.Shelf == "" || jar.Content == "" {
		return Stored{}, latchwork.Fail(latchwork.InvalidInput, "a shelf and a content are needed")
	}
	list := "shelf/" + jar.Shelf
	present, _, err := latchwork.KVGet(list)
	if err != nil {
		return Stored{}, err
	}
	jars := append(strings.Fields(string(present)), call.ExternalKey)
	if err := latchwork.KVSet(list, []byte(strings.Join(jars, " "))); err != nil {
		return Stored{}, err
	}
	if err := latchwork.KVSet("jar/"+call.ExternalKey, []byte(jar.Content)); err != nil {
		return Stored{}, applied(err)
	}
	return stored(call, jar), nil
}

func applied(err error) error {
	failure := latchwork.Fail(latchwork.DependencyUnavailable, "the jar is on the list only: %w", err)
	failure.Applied = latchwork.AppliedUnknown
	return failure
}

func find(call *latchwork.Invocation, jar Jar) (latchwork.Verdict, error) {
	_, found, err := latchwork.KVGet("jar/" + call.ExternalKey)
	switch {
	case err != nil:
		return latchwork.Unknown, err
	case !found:
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(stored(call, jar)), nil
}

func stored(call *latchwork.Invocation, jar Jar) Stored {
	call.Changed(latchwork.Change{ResourceType: "shelf", ResourceID: jar.Shelf, Operation: "update"})
	call.Changed(latchwork.Change{ResourceType: "jar", ResourceID: call.ExternalKey, Operation: "create"})
	return Stored{call.ExternalKey}
}

// main is empty: the host calls the operators.
func main() {}
