package main

import (
	"encoding/json"
	"slices"
	"strings"

	"latchwork"
)

type Hive struct {
	Hive   string   `json:"hive"`
	Queen  int      `json:"queen"`
	Traits []string `json:"traits,omitempty"`
}

type Labelled struct {
	Label  string   `json:"label"`
	Hive   string   `json:"hive"`
	Traits []string `json:"traits"`
}

// entry is what the map keeps of a label.
type entry struct {
	Hive   string   `json:"h"`
	Queen  int      `json:"q"`
	Traits []string `json:"t,omitempty"`
}

func init() {
	latchwork.Tool("Hive.Label", latchwork.Spec{
		Description: "Keeps the label of a hive with the traits of its colony.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, label).Reconcile(find)
}

func label(call *latchwork.Invocation, hive Hive) (Labelled, error) {
	if strings.TrimSpace(hive.Hive) == "" {
		return Labelled{}, latchwork.Fail(latchwork.InvalidInput, "the hive has no name")
	}
	traits := make([]string, 0, len(hive.Traits))
	for _, trait := range hive.Traits {
		if trait = strings.ToLower(strings.TrimSpace(trait)); trait != "" {
			traits = append(traits, trait)
		}
	}
	slices.Sort(traits)
	made := entry{Hive: hive.Hive, Queen: hive.Queen, Traits: slices.Compact(traits)}
	text, err := json.Marshal(made)
	if err != nil {
		return Labelled{}, err
	}
	if err := latchwork.KVSet("label/"+call.ExternalKey, text); err != nil {
		return Labelled{}, err
	}
	return labelled(call, made), nil
}

func find(call *latchwork.Invocation, _ Hive) (latchwork.Verdict, error) {
	text, found, err := latchwork.KVGet("label/" + call.ExternalKey)
	switch {
	case err != nil:
		return latchwork.Unknown, err
	case !found:
		return latchwork.DidNotHappen, nil
	}
	var kept entry
	if err := json.Unmarshal(text, &kept); err != nil {
		return latchwork.Unknown, err
	}
	return latchwork.Happened(labelled(call, kept)), nil
}

func labelled(call *latchwork.Invocation, made entry) Labelled {
	call.Changed(latchwork.Change{ResourceType: "label", ResourceID: call.ExternalKey, Operation: "create"})
	return Labelled{Label: call.ExternalKey, Hive: made.Hive, Traits: made.Traits}
}

// main is empty: the host calls the operators.
func main() {}
