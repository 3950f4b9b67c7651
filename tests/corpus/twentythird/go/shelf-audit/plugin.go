// A stock audit: draws some shelves at random, counts them, and compares the counts with the books.
package main

import (
	"encoding/json"
	"log/slog"
	"math/rand"
	"time"

	"latchwork"
)

type shelf struct {
	Shelf  string `json:"shelf"`
	Booked int    `json:"booked"`
}

type books struct {
	Store   string  `json:"store"`
	Sample  int     `json:"sample"`
	Shelves []shelf `json:"shelves"`
}

type place struct {
	Store string `json:"store"`
	Shelf string `json:"shelf"`
}

type count struct {
	Pieces *int `json:"pieces"`
}

type difference struct {
	Shelf  string `json:"shelf"`
	Booked int    `json:"booked"`
	Found  int    `json:"found"`
}

type audit struct {
	DrawnAt     time.Time    `json:"drawn_at"`
	Counted     int          `json:"counted"`
	Differences []difference `json:"differences"`
	Passed      bool         `json:"passed"`
}

const input = `{"type": "object", "required": ["store", "sample", "shelves"], "additionalProperties": false, "properties": {
	"store": {"type": "string", "pattern": "^[A-Z]{1,4}[0-9]{0,4}$"},
	"sample": {"type": "integer", "minimum": 1, "maximum": 20},
	"shelves": {"type": "array", "minItems": 1, "maxItems": 400, "items": {"type": "object", "required": ["shelf", "booked"],
		"additionalProperties": false, "properties": {
			"shelf": {"type": "string", "minLength": 1, "maxLength": 30},
			"booked": {"type": "integer", "minimum": 0, "maximum": 1000000}}}}}}`

func init() {
	latchwork.Step("Stock.Audit", latchwork.Spec{
		Description: "Counts a random sample of shelves and compares it with the books.",
		Input:       json.RawMessage(input),
		// The sample and the time differ between jobs.
		Determinism: latchwork.Stable,
	}, check)
}

// draw returns the numbers of n different shelves, in the order of the list.
func draw(n, all int) []int {
	chosen := make([]bool, all)
	for _, i := range rand.Perm(all)[:min(n, all)] {
		chosen[i] = true
	}
	drawn := []int{}
	for i, is := range chosen {
		if is {
			drawn = append(drawn, i)
		}
	}
	return drawn
}

func check(ctx latchwork.Context, in books) (audit, error) {
	out := audit{DrawnAt: time.Now().UTC().Truncate(time.Second), Differences: []difference{}}
	seen := map[string]bool{}
	for _, one := range in.Shelves {
		if seen[one.Shelf] {
			return out, latchwork.Fail(latchwork.InvalidInput, "the shelf %q is listed twice", one.Shelf)
		}
		seen[one.Shelf] = true
	}
	drawn := draw(in.Sample, len(in.Shelves))
	slog.Info("sample drawn", "store", in.Store, "shelves", len(drawn), "job", ctx.JobID)

	for _, i := range drawn {
		one := in.Shelves[i]
		found, err := latchwork.Call[count]("Scanner.Count", place{in.Store, one.Shelf})
		if err != nil {
			return out, err
		}
		if found.Pieces == nil || *found.Pieces < 0 || *found.Pieces > 10_000_000 {
			return out, latchwork.Fail(latchwork.SchemaValidationFailed, "Scanner.Count gave no count for %q", one.Shelf)
		}
		if *found.Pieces != one.Booked {
			out.Differences = append(out.Differences, difference{one.Shelf, one.Booked, *found.Pieces})
		}
	}
	out.Counted = len(drawn)
	out.Passed = len(out.Differences) == 0
	return out, nil
}

// main is empty: the host calls the operators.
func main() {}
