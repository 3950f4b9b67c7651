// Herbarium-moves keeps the cabinet in which each sheet of a herbarium lies, and a slip for each move.
package main

import (
	"encoding/json"

	"latchwork"
)

type Move struct {
	Sheet   string `json:"sheet"`
	Cabinet string `json:"cabinet"`
	By      string `json:"by"`
}

type Moved struct {
	Slip    string `json:"slip"`
	Sheet   string `json:"sheet"`
	Cabinet string `json:"cabinet"`
}

type Sheet struct {
	Sheet string `json:"sheet"`
}

type Place struct {
	Sheet   string `json:"sheet"`
	Cabinet string `json:"cabinet"`
}

const sheetSchema = `{"type":"string","pattern":"^[A-Z]{1,4}[0-9]{4,8}$"}`

func init() {
	latchwork.Tool("Herbarium.Move", latchwork.Spec{
		Description: "Moves a sheet to another cabinet.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
		Input: latchwork.Schema(`{"type":"object","properties":{"sheet":` + sheetSchema + `,
			"cabinet":{"type":"string","pattern":"^[0-9]{1,3}[A-F]$"},"by":{"type":"string","minLength":1,"maxLength":60}},
			"required":["sheet","cabinet","by"],"additionalProperties":false}`),
	}, move).Reconcile(find)
	latchwork.Tool("Herbarium.Where", latchwork.Spec{
		Description: "Tells in which cabinet a sheet lies.",
		Input:       latchwork.Schema(`{"type":"object","properties":{"sheet":` + sheetSchema + `},"required":["sheet"],"additionalProperties":false}`),
	}, where)
}

func move(call *latchwork.Invocation, to Move) (Moved, error) {
	if to.Cabinet == "0A" {
		return Moved{}, latchwork.Fail(latchwork.PolicyDenied, "cabinet 0A is under quarantine")
	}
	slip, err := json.Marshal(to)
	if err != nil {
		return Moved{}, err
	}
	if err := latchwork.KVSet("place/"+to.Sheet, []byte(to.Cabinet)); err != nil {
		return Moved{}, err
	}
	// The slip comes last: it says that the move is complete.
	if err := latchwork.KVSet("slip/"+call.ExternalKey, slip); err != nil {
		failure := latchwork.Fail(latchwork.DependencyUnavailable, "the slip was not written: %w", err)
		failure.Applied = latchwork.AppliedUnknown
		return Moved{}, failure
	}
	return moved(call, to), nil
}

func moved(call *latchwork.Invocation, to Move) Moved {
	call.Changed(latchwork.Change{ResourceType: "herbarium sheet", ResourceID: to.Sheet, Operation: "move", Version: to.Cabinet})
	return Moved{Slip: call.ExternalKey, Sheet: to.Sheet, Cabinet: to.Cabinet}
}

func find(call *latchwork.Invocation, to Move) (latchwork.Verdict, error) {
	slip, found, err := latchwork.KVGet("slip/" + call.ExternalKey)
	switch {
	case err != nil:
		return latchwork.Unknown, err
	case !found:
		return latchwork.DidNotHappen, nil
	}
	if err := json.Unmarshal(slip, &to); err != nil {
		return latchwork.Unknown, latchwork.Fail(latchwork.DependencyUnavailable, "slip %s is damaged: %w", call.ExternalKey, err)
	}
	return latchwork.Happened(moved(call, to)), nil
}

func where(_ *latchwork.Invocation, sheet Sheet) (Place, error) {
	cabinet, found, err := latchwork.KVGet("place/" + sheet.Sheet)
	if err != nil {
		return Place{}, err
	}
	if !found {
		return Place{}, latchwork.Fail(latchwork.MissingRequiredContext, "sheet %s has no place", sheet.Sheet)
	}
	return Place{Sheet: sheet.Sheet, Cabinet: string(cabinet)}, nil
}

func main() {}
