// Package main keeps the settings of the jacquard looms of a weaving mill. The looms poll their entry of the map.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"latchwork"
)

// Setting is the entry of a loom.
type Setting struct {
	Card    string `json:"card"`
	Warp    int    `json:"warp"`
	Picks   int    `json:"picks"`
	Tension int    `json:"tension"`
}

type Change struct {
	Loom    string `json:"loom"`
	Setting
}

type Changed struct {
	Loom   string   `json:"loom"`
	Before *Setting `json:"before"`
}

func init() {
	latchwork.Tool("Loom.Set", latchwork.Spec{
		Description: "Changes the setting of a loom.",
		Input: latchwork.Schema(`{"type": "object", "required": ["loom", "card", "warp", "picks", "tension"], "properties": {
			"loom": {"type": "string", "pattern": "^[A-Z][0-9]{1,3}$"}, "card": {"type": "string", "maxLength": 80},
			"warp": {"type": "integer"}, "picks": {"type": "integer"}, "tension": {"type": "integer"}}}`),
		Output:  latchwork.Schema(`{"type": "object", "required": ["loom", "before"]}`),
		Effects: []latchwork.Effect{latchwork.InternalWrite},
	}, set).Verify(check).Compensate(putBack)
}

func set(call *latchwork.Invocation, change Change) (Changed, error) {
	if change.Warp < 100 || change.Picks < 1 || change.Tension < 0 || change.Tension > 100 {
		return Changed{}, latchwork.Fail(latchwork.InvalidInput, "loom %s cannot be set like this", change.Loom)
	}
	name := "loom/" + change.Loom
	old, found, err := latchwork.KVGet(name)
	if err != nil {
		return Changed{}, err
	}
	made := Changed{Loom: change.Loom}
	if found {
		// An entry that is no setting could not be put back, so it stays.
		made.Before = new(Setting)
		if err := json.Unmarshal(old, made.Before); err != nil {
			return Changed{}, latchwork.Fail(latchwork.PolicyDenied, "the entry of loom %s cannot be read: %w", change.Loom, err)
		}
	}
	entry, err := json.Marshal(change.Setting)
	if err != nil {
		return Changed{}, latchwork.Fail(latchwork.InvalidInput, "the setting cannot be kept: %w", err)
	}
	if err := latchwork.KVSet(name, entry); err != nil {
		return Changed{}, err
	}
	call.Changed(latchwork.Change{ResourceType: "loom", ResourceID: change.Loom, Operation: "update", Version: string(entry)})
	return made, nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	entry, found, err := latchwork.KVGet("loom/" + change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the loom has no setting", nil
	case string(entry) != change.Version:
		return fmt.Sprintf("the loom is set to %s", entry), nil
	}
	return "", nil
}

// putBack gives the loom the setting that it had before, unless the loom was set again meanwhile.
func putBack(call *latchwork.Invocation, change Change, made Changed) error {
	name := "loom/" + change.Loom
	now, found, err := latchwork.KVGet(name)
	if err != nil {
		return err
	}
	ours, err := json.Marshal(change.Setting)
	if err != nil {
		return latchwork.Fail(latchwork.InvalidInput, "the setting cannot be compared: %w", err)
	}
	if !found || !bytes.Equal(now, ours) {
		return latchwork.Fail(latchwork.PolicyDenied, "loom %s was set again or cleared", change.Loom)
	}
	if made.Before == nil {
		if _, err := latchwork.KVDelete(name); err != nil {
			return err
		}
		call.Changed(latchwork.Change{ResourceType: "loom", ResourceID: change.Loom, Operation: "delete"})
		return nil
	}
	entry, err := json.Marshal(made.Before)
	if err != nil {
		return latchwork.Fail(latchwork.InvalidInput, "the earlier setting cannot be kept: %w", err)
	}
	if err := latchwork.KVSet(name, entry); err != nil {
		return err
	}
	call.Changed(latchwork.Change{ResourceType: "loom", ResourceID: change.Loom, Operation: "update", Version: string(entry)})
	return nil
}

// main is empty: the host calls the operators.
func main() {}
