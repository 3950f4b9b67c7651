// Package main judges the laboratory values of a brew against the limits of its style.
package main

import (
	"sort"
	"strings"

	"latchwork"
)

type Brew struct {
	Batch  string             `json:"batch"`
	Style  string             `json:"style"`
	Values map[string]float64 `json:"values"`
}

type Verdict struct {
	Batch    string   `json:"batch"`
	Passed   bool     `json:"passed"`
	Outside  []string `json:"outside"`
	Missing  []string `json:"missing"`
	Strength string   `json:"strength"`
}

// span is the range in which a value is right, and the range in which an instrument can measure it at all.
type span struct{ low, high, least, most float64 }

var limits = map[string]map[string]span{
	"pils": {
		"alcohol":    {4.4, 5.4, 0, 20},
		"bitterness": {25, 45, 0, 200},
		"colour":     {4, 12, 0, 150},
		"extract":    {11, 12.5, 0, 40},
		"ph":         {4.2, 4.7, 2, 8},
	},
	"bock": {
		"alcohol":    {6.3, 7.4, 0, 20},
		"bitterness": {20, 35, 0, 200},
		"colour":     {15, 60, 0, 150},
		"extract":    {16, 18, 0, 40},
		"ph":         {4.2, 4.8, 2, 8},
	},
}

func init() {
	latchwork.Step("Brew.Judge", latchwork.Spec{
		Description: "Judges the laboratory values of a brew.",
		Determinism: latchwork.Pure,
	}, judge)
}

func judge(_ latchwork.Context, brew Brew) (Verdict, error) {
	style, known := limits[strings.ToLower(brew.Style)]
	if !known {
		return Verdict{}, latchwork.Fail(latchwork.InvalidInput, "there is no style %q", brew.Style)
	}

	// A value that no instrument can give is a slip of the keyboard: such a sheet goes back to the laboratory.
	for name, value := range brew.Values {
		span, known := style[name]
		if !known {
			return Verdict{}, latchwork.Fail(latchwork.InvalidInput, "batch %s: %q is no value of the sheet", brew.Batch, name)
		}
		if value < span.least || value > span.most {
			return Verdict{}, latchwork.Fail(latchwork.InvalidInput, "batch %s: %s cannot be %g", brew.Batch, name, value)
		}
	}

	verdict := Verdict{Batch: brew.Batch, Outside: []string{}, Missing: []string{}, Strength: "unknown"}
	for name, span := range style {
		value, given := brew.Values[name]
		switch {
		case !given:
			verdict.Missing = append(verdict.Missing, name)
		case value < span.low || value > span.high:
			verdict.Outside = append(verdict.Outside, name)
		}
	}
	sort.Strings(verdict.Outside)
	sort.Strings(verdict.Missing)
	verdict.Passed = len(verdict.Outside) == 0 && len(verdict.Missing) == 0

	if alcohol, given := brew.Values["alcohol"]; given {
		verdict.Strength = strength(alcohol)
	}
	return verdict, nil
}

// strength is the class of the duty.
func strength(alcohol float64) string {
	switch {
	case alcohol < 0.5:
		return "free"
	case alcohol < 2.8:
		return "light"
	case alcohol < 6:
		return "full"
	}
	return "strong"
}

// main is empty: the host calls the operators.
func main() {}
