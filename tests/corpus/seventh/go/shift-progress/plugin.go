package main

import (
	"fmt"
	"time"

	"latchwork"
)

type Shift struct {
	Crew  string    `json:"crew"`
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
}

type Progress struct {
	Crew    string `json:"crew"`
	Percent int    `json:"percent"`
	Bar     string `json:"bar"`
}

// progress is the schema that the dashboard reads.
const progress = `{
  "type": "object",
  "properties": {
    "crew": {"type": "string"},
    "percent": {"type": "integer", "minimum": 0, "maximum": 100},
    "bar": {"type": "string"}
  },
  "required": ["crew", "percent", "bar"]
}`

func init() {
	latchwork.Step("Shift.Progress", latchwork.Spec{
		Description: "Says how much of a shift has passed.",
		Determinism: latchwork.Stable,
		Output:      latchwork.Schema(progress),
	}, measure)
}

func measure(_ latchwork.Context, shift Shift) (Progress, error) {
	length := shift.End.Sub(shift.Start)
	if length < time.Minute {
		return Progress{}, latchwork.Fail(latchwork.InvalidInput, "the shift of %s is shorter than a minute", shift.Crew)
	}
	passed := time.Since(shift.Start)
	percent := int(passed / (length / 100))
	bar := ""
	for mark := 10; mark <= 100; mark += 10 {
		if mark <= percent {
			bar += "#"
		} else {
			bar += "."
		}
	}
	return Progress{Crew: shift.Crew, Percent: percent, Bar: fmt.Sprintf("[%s]", bar)}, nil
}

// main is empty: the host calls the operators.
func main() {}
