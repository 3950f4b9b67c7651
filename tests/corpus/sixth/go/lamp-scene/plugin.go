// Keeps the scene of the lamps of a hall for an event.
package main

import (
	"latchwork"
)

type Scene struct {
	Hall  string `json:"hall"`
	Scene string `json:"scene"`
}

type Kept struct {
	Key string `json:"key"`
}

func init() {
	latchwork.Tool("Lamp.Scene", latchwork.Spec{
		Description: "Keeps the scene of a hall.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, keep).Reconcile(find).Verify(check)
}

func keep(call *latchwork.Invocation, scene Scene) (Kept, error) {
	if scene.Hall == "" || scene.Scene == "" || len(scene.Scene) > 1000 {
		return Kept{}, latchwork.Fail(latchwork.InvalidInput, "hall or scene is not valid")
	}
	if err := latchwork.KVSet(call.ExternalKey, []byte(scene.Scene)); err != nil {
		return Kept{}, err
	}
	return kept(call, scene.Scene), nil
}

func find(call *latchwork.Invocation, _ Scene) (latchwork.Verdict, error) {
	text, found, err := latchwork.KVGet(call.ExternalKey)
	switch {
	case err != nil:
		return latchwork.Unknown, err
	case !found:
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(kept(call, string(text))), nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(change.ResourceID)
	if err != nil || !found {
		return "the scene is missing", nil
	}
	if string(text) != change.Version {
		return "the hall has another scene", nil
	}
	return "", nil
}

func kept(call *latchwork.Invocation, text string) Kept {
	call.Changed(latchwork.Change{
		ResourceType: "scene", ResourceID: call.ExternalKey, Operation: "create", Version: text,
	})
	return Kept{call.ExternalKey}
}

// main is empty: the host calls the operators.
func main() {}
