package main

import (
	"sort"
	"strings"

	"latchwork"
)

type Vacancy struct {
	Title string `json:"title"`
	Town  string `json:"town"`
	Hours int    `json:"hours"`
}

type Search struct {
	Towns     []string  `json:"towns"`
	MinHours  int       `json:"min_hours"`
	Vacancies []Vacancy `json:"vacancies"`
}

type Digest struct {
	Subject string   `json:"subject"`
	Lines   []string `json:"lines"`
}

func init() {
	latchwork.Step("Vacancy.Digest", latchwork.Spec{
		Description: "Selects the vacancies for a subscriber and writes one line for each.",
		// The mailer reads this schema, so it says more than the generated one.
		Output: latchwork.Schema(`{
			"type": "object",
			"required": ["subject", "lines"],
			"additionalProperties": false,
			"properties": {
				"subject": {"type": "string", "minLength": 1},
				"lines": {"type": "array", "items": {"type": "string"}}
			}
		}`),
	}, digest)
}

func digest(_ latchwork.Context, search Search) (Digest, error) {
	if len(search.Towns) == 0 {
		return Digest{}, latchwork.Fail(latchwork.InvalidInput, "the search names no town")
	}
	wanted := map[string]bool{}
	for _, town := range search.Towns {
		wanted[strings.ToLower(town)] = true
	}
	var lines []string
	for _, vacancy := range search.Vacancies {
		if vacancy.Hours < search.MinHours || !wanted[strings.ToLower(vacancy.Town)] {
			continue
		}
		lines = append(lines, vacancy.Town+": "+vacancy.Title)
	}
	sort.Strings(lines)
	return Digest{Subject: "Vacancies in " + strings.Join(search.Towns, ", "), Lines: lines}, nil
}

func main() {}
