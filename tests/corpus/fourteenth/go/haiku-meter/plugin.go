// Command haiku-meter checks the metre of a haiku. A tool counts the syllables of a line.
package main

import (
	"log/slog"
	"strings"
	"time"

	"latchwork"
)

var metre = []int{5, 7, 5}

type Haiku struct {
	Lines []string `json:"lines"`
}

type Counted struct {
	Syllables int `json:"syllables"`
}

type Line struct {
	Text      string `json:"text"`
	Syllables int    `json:"syllables"`
	Off       int    `json:"off"`
}

type Review struct {
	Lines   []Line `json:"lines"`
	Correct bool   `json:"correct"`
	Season  string `json:"season"`
}

var seasons = []struct{ season, word string }{
	{"spring", "blossom"}, {"spring", "swallow"}, {"summer", "cicada"}, {"summer", "heat"},
	{"autumn", "leaves"}, {"autumn", "moon"}, {"winter", "snow"}, {"winter", "frost"},
}

func init() {
	// The counting tool is pure, so the review follows from the poem alone.
	latchwork.Step("Haiku.Review", latchwork.Spec{Description: "Checks the metre of a haiku."}, review)
}

func review(_ latchwork.Context, haiku Haiku) (Review, error) {
	if len(haiku.Lines) != len(metre) {
		return Review{}, latchwork.Fail(latchwork.InvalidInput, "a haiku has %d lines, not %d", len(metre), len(haiku.Lines))
	}
	begun := time.Now()
	result := Review{Correct: true, Season: season(strings.Join(haiku.Lines, " "))}
	for i, text := range haiku.Lines {
		text = strings.Join(strings.Fields(text), " ")
		if text == "" {
			return Review{}, latchwork.Fail(latchwork.InvalidInput, "line %d is empty", i+1)
		}
		counted, err := latchwork.Call[Counted]("Syllables.Count", map[string]string{"text": text})
		if err != nil {
			return Review{}, err
		}
		off := counted.Syllables - metre[i]
		result.Lines = append(result.Lines, Line{text, counted.Syllables, off})
		result.Correct = result.Correct && off == 0
	}
	slog.Info("reviewed", "correct", result.Correct, "took", time.Since(begun))
	return result, nil
}

// season returns the season of the first season word in the list that the poem contains.
func season(text string) string {
	text = strings.ToLower(text)
	for _, entry := range seasons {
		if strings.Contains(text, entry.word) {
			return entry.season
		}
	}
	return "none"
}

// main is empty: the host calls the operators.
func main() {}
