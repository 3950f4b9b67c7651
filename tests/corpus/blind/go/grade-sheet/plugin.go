package main

import (
	"encoding/json"
	"time"

	"latchwork"
)

type Grade struct {
	Student string `json:"student"`
	Course  string `json:"course"`
	Points  int    `json:"points"`
}

type Entered struct {
	Entry  string `json:"entry"`
	Passed bool   `json:"passed"`
}

type stored struct {
	Grade
	Entered time.Time `json:"entered"`
}

func init() {
	latchwork.Tool("GradeSheet.Enter", latchwork.Spec{
		Description:     "Enters a grade into the sheet of a course.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 7 * 24 * time.Hour,
	}, enter)
}

// enter names the entry by the key of the call: a repetition replaces its own entry.
func enter(call *latchwork.Invocation, grade Grade) (Entered, error) {
	if grade.Points < 0 || grade.Points > 100 {
		return Entered{}, latchwork.Fail(latchwork.InvalidInput, "a grade has 0 to 100 points")
	}
	entry := "grade/" + call.ExternalKey
	value, err := json.Marshal(stored{grade, time.Now().UTC()})
	if err != nil {
		return Entered{}, err
	}
	if err := latchwork.KVSet(entry, value); err != nil {
		return Entered{}, err
	}
	call.Changed(latchwork.Change{ResourceType: "grade", ResourceID: entry, Operation: "create"})
	return Entered{entry, grade.Points >= 50}, nil
}

// main is empty: the host calls the operators.
func main() {}
