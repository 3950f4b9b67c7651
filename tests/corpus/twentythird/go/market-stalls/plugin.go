// The stall plan of a flea market. The plan has one entry for each stall, with the trader who has it.
package main

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"latchwork"
)

type assignment struct {
	Stall  int    `json:"stall"`
	Trader string `json:"trader"`
	Goods  string `json:"goods,omitempty"`
}

type assigned struct {
	Stall string `json:"stall"`
}

type question struct {
	Stall int `json:"stall"`
}

type tenant struct {
	Trader *string `json:"trader"`
	Goods  *string `json:"goods"`
}

// An entry consists of the arguments alone.
type entry struct {
	Trader string `json:"trader"`
	Goods  string `json:"goods"`
}

const (
	stall        = `"stall": {"type": "integer", "minimum": 1, "maximum": 400}`
	assignInput  = `{"type": "object", "required": ["stall", "trader"], "additionalProperties": false, "properties": {` + stall + `, "trader": {"type": "string", "maxLength": 80}, "goods": {"type": "string", "maxLength": 200}}}`
	tenantInput  = `{"type": "object", "required": ["stall"], "additionalProperties": false, "properties": {` + stall + `}}`
	resourceType = "stall"
)

func init() {
	latchwork.Tool("Stall.Assign", latchwork.Spec{
		Description: "Assigns a stall to a trader, also if another trader had it.",
		Input:       json.RawMessage(assignInput),
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
		// A repetition writes the same entry once more, so it changes nothing.
		IdempotentByKey: 2 * time.Hour,
	}, assign).Verify(check)
	latchwork.Tool("Stall.Tenant", latchwork.Spec{
		Description: "Returns the trader who has a stall.",
		Input:       json.RawMessage(tenantInput),
	}, find)
}

func name(number string) string { return "stall/" + number }

func assign(call *latchwork.Invocation, in assignment) (assigned, error) {
	trader := strings.TrimSpace(in.Trader)
	if trader == "" {
		return assigned{}, latchwork.Fail(latchwork.InvalidInput, "stall %d gets no trader", in.Stall)
	}
	number := strconv.Itoa(in.Stall)
	value, err := json.Marshal(entry{trader, in.Goods})
	if err != nil {
		return assigned{}, latchwork.Fail(latchwork.InvalidInput, "the entry cannot be written: %w", err)
	}
	if err := latchwork.KVSet(name(number), value); err != nil {
		return assigned{}, err
	}
	call.Changed(latchwork.Change{ResourceType: resourceType, ResourceID: number, Operation: "set", Version: trader})
	return assigned{number}, nil
}

// read returns the entry of a stall, or nil if the stall is free.
func read(number string) (*entry, error) {
	value, found, err := latchwork.KVGet(name(number))
	if err != nil || !found {
		return nil, err
	}
	var stored entry
	if err := json.Unmarshal(value, &stored); err != nil {
		return nil, latchwork.Fail(latchwork.DependencyUnavailable, "the entry of stall %s cannot be read: %w", number, err)
	}
	return &stored, nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	stored, err := read(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case stored == nil:
		return "the stall is free", nil
	case stored.Trader != change.Version:
		return "the stall has another trader", nil
	}
	return "", nil
}

func find(_ *latchwork.Invocation, in question) (tenant, error) {
	stored, err := read(strconv.Itoa(in.Stall))
	if err != nil || stored == nil {
		return tenant{}, err
	}
	return tenant{&stored.Trader, &stored.Goods}, nil
}

// main is empty: the host calls the operators.
func main() {}
