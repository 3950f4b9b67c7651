package main

import (
	"fmt"
	"strings"
	"time"

	"latchwork"
)

type Work struct {
	Owner string `json:"owner"`
	Since int    `json:"since"`
	Until *int   `json:"until,omitempty"`
}

type Line struct {
	Text string `json:"text"`
}

func init() {
	latchwork.Step("Copyright.Line", latchwork.Spec{
		Description: "Writes the line with the owner and the years of a work.",
		Determinism: latchwork.Pure,
	}, line)
}

// newest is the last year of works that are still maintained.
var newest = time.Now().UTC().Year()

func line(_ latchwork.Context, work Work) (Line, error) {
	owner := strings.TrimSpace(work.Owner)
	if owner == "" {
		return Line{}, latchwork.Fail(latchwork.InvalidInput, "the work has no owner")
	}
	until := newest
	if work.Until != nil {
		until = *work.Until
	}
	if work.Since >= until {
		return Line{fmt.Sprintf("© %d %s", work.Since, owner)}, nil
	}
	return Line{fmt.Sprintf("© %d–%d %s", work.Since, until, owner)}, nil
}

// main is empty: the host calls the operators.
func main() {}
