// Decides which desk handles an insurance claim. A claim that no desk handles is refused with an incident id, under
// which the log has the reason.
package main

import (
	"log/slog"

	"latchwork"
)

type Claim struct {
	Kind  string `json:"kind"`
	Cents int64  `json:"cents"`
}

type Desk struct {
	Desk     string `json:"desk"`
	Priority int    `json:"priority"`
}

var incident = latchwork.UUID()

var desks = map[string]string{"water": "buildings", "fire": "buildings", "theft": "contents", "glass": "contents"}

func init() {
	latchwork.Step("Claim.Triage", latchwork.Spec{
		Description: "Decides which desk handles a claim.",
		Determinism: latchwork.Pure,
	}, triage)
}

func triage(_ latchwork.Context, claim Claim) (Desk, error) {
	desk, known := desks[claim.Kind]
	if !known {
		slog.Warn("no desk", "kind", claim.Kind, "incident", incident)
		failure := latchwork.Fail(latchwork.InvalidInput, "no desk handles claims of the kind %q", claim.Kind)
		failure.Detail = map[string]any{"kind": claim.Kind, "incident": incident}
		return Desk{}, failure
	}
	priority := 2
	if claim.Cents >= 1_000_000 {
		priority = 1
	}
	return Desk{desk, priority}, nil
}

// main is empty: the host calls the operators.
func main() {}
