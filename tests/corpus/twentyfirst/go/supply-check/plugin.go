package main

import (
	"slices"
	"strings"

	"latchwork"
)

type Request struct {
	Department string         `json:"department"`
	Items      map[string]int `json:"items"`
	// Limits has the largest number of pieces of an article. An article without a limit has the default.
	Limits map[string]int `json:"limits,omitempty"`
}

type Line struct {
	Article string `json:"article"`
	Pieces  int    `json:"pieces"`
	Boxes   int    `json:"boxes"`
}

type Checked struct {
	Department string `json:"department"`
	Lines      []Line `json:"lines"`
	Pieces     int    `json:"pieces"`
}

const (
	defaultLimit = 200
	boxSize      = 12
)

func init() {
	latchwork.Step("Supply.Check", latchwork.Spec{
		Description: "Checks the office supplies that a department requests, and counts the boxes.",
	}, check)
}

func check(_ latchwork.Context, request Request) (Checked, error) {
	department := strings.TrimSpace(request.Department)
	if department == "" {
		return Checked{}, latchwork.Fail(latchwork.InvalidInput, "the department is empty")
	}
	if len(request.Items) == 0 {
		return Checked{}, latchwork.Fail(latchwork.InvalidInput, "%s requests nothing", department)
	}
	checked := Checked{Department: department}
	for article, pieces := range request.Items {
		if err := allowed(request, article, pieces); err != nil {
			return Checked{}, err
		}
		checked.Lines = append(checked.Lines, Line{article, pieces, (pieces + boxSize - 1) / boxSize})
		checked.Pieces += pieces
	}
	slices.SortFunc(checked.Lines, func(a, b Line) int { return strings.Compare(a.Article, b.Article) })
	return checked, nil
}

func allowed(request Request, article string, pieces int) error {
	limit, found := request.Limits[article]
	if !found {
		limit = defaultLimit
	}
	switch {
	case pieces <= 0:
		return latchwork.Fail(latchwork.InvalidInput, "%s: %d is no number of pieces", article, pieces)
	case pieces > limit:
		return latchwork.Fail(latchwork.PolicyDenied, "%s: %d pieces are more than %d", article, pieces, limit)
	}
	return nil
}

// main is empty: the host calls the operators.
func main() {}
