package main

import (
	"maps"
	"slices"
	"strings"

	"latchwork"
)

// Item is one item of a removal. Its size is in litres.
type Item struct {
	Kind   string `json:"kind"`
	Litres int64  `json:"litres"`
	Count  int64  `json:"count"`
}

type Removal struct {
	Zone  string `json:"zone"`
	Floor int64  `json:"floor"`
	Items []Item `json:"items"`
}

// Line is the price of all items of one kind, in cents.
type Line struct {
	Kind   string `json:"kind"`
	Litres int64  `json:"litres"`
	Cents  int64  `json:"cents"`
}

type Quote struct {
	Zone  string `json:"zone"`
	Lines []Line `json:"lines"`
	Stair int64  `json:"stairs_cents"`
	Cents int64  `json:"cents"`
}

// mostCents bounds each price of the configuration.
const mostCents = 1_000_000

func init() {
	latchwork.Tool("RemovalQuote.Make", latchwork.Spec{
		Description: "Makes the quote of a removal from the configured tariff.",
		Effects:     []latchwork.Effect{latchwork.ReadOnly},
		Determinism: latchwork.Pure,
		Input: latchwork.Schema(`{
  "type": "object", "additionalProperties": false, "required": ["zone", "floor", "items"],
  "properties": {
    "zone": {"type": "string", "minLength": 1, "maxLength": 20},
    "floor": {"type": "integer", "minimum": 0, "maximum": 60},
    "items": {"type": "array", "maxItems": 300, "items": {
      "type": "object", "additionalProperties": false, "required": ["kind", "litres", "count"],
      "properties": {
        "kind": {"type": "string", "maxLength": 40},
        "litres": {"type": "integer", "minimum": 1, "maximum": 10000},
        "count": {"type": "integer", "minimum": 1, "maximum": 100}}}}}}`),
	}, quote)
}

// price returns a configured price, in cents.
func price(table, name string) (int64, error) {
	prices := map[string]int64{}
	if _, err := latchwork.Config(table, &prices); err != nil {
		return 0, err
	}
	cents, known := prices[name]
	if !known {
		have := strings.Join(slices.Sorted(maps.Keys(prices)), ", ")
		return 0, latchwork.Fail(latchwork.MissingRequiredContext, "%s has no price for %q, it has: %s", table, name, have)
	}
	if cents < 0 || cents > mostCents {
		return 0, latchwork.Fail(latchwork.MissingRequiredContext, "the price of %q in %s is outside of 0 to %d", name, table, mostCents)
	}
	return cents, nil
}

func quote(_ *latchwork.Invocation, removal Removal) (Quote, error) {
	perCubicMetre, err := price("zones", removal.Zone)
	if err != nil {
		return Quote{}, err
	}
	perFloor, err := price("extras", "floor")
	if err != nil {
		return Quote{}, err
	}
	litres := map[string]int64{}
	for _, item := range removal.Items {
		kind := strings.ToLower(strings.TrimSpace(item.Kind))
		if kind == "" {
			kind = "other"
		}
		litres[kind] += item.Litres * item.Count
	}
	made := Quote{Zone: removal.Zone, Lines: []Line{}, Stair: perFloor * removal.Floor}
	made.Cents = made.Stair
	for _, kind := range slices.Sorted(maps.Keys(litres)) {
		// A part of a cent is rounded up, at most once for each kind.
		cents := (litres[kind]*perCubicMetre + 999) / 1000
		made.Lines = append(made.Lines, Line{kind, litres[kind], cents})
		made.Cents += cents
	}
	return made, nil
}

func main() {}
