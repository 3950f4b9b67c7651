// Command book-finder searches the catalogue of a library for the words of a reader.
package main

import (
	"cmp"
	"slices"
	"strings"

	"latchwork"
)

type Book struct {
	Title  string `json:"title"`
	Author string `json:"author"`
	Shelf  string `json:"shelf"`
	Lent   bool   `json:"lent"`
}

type Question struct {
	Words string `json:"words"`
	Books []Book `json:"books"`
	Most  int    `json:"most,omitempty"`
}

type Hit struct {
	Title string `json:"title"`
	Shelf string `json:"shelf"`
	Score int    `json:"score"`
}

type Found struct {
	Hits []Hit `json:"hits"`
	Lent int   `json:"lent"`
}

var output = latchwork.Schema(`{"type": "object", "properties": {
	"hits": {"type": "array", "maxItems": 50, "items": {"type": "object",
		"properties": {"title": {"type": "string"}, "shelf": {"type": "string"}, "score": {"type": "integer", "minimum": 1}},
		"required": ["title", "shelf", "score"], "additionalProperties": false}},
	"lent": {"type": "integer", "minimum": 0}},
	"required": ["hits", "lent"], "additionalProperties": false}`)

func init() {
	latchwork.Step("Book.Find", latchwork.Spec{
		Description: "Finds the books of a catalogue that fit the words of a reader, the best first.",
		Output:      output,
	}, find)
}

// score counts the words that are in the title, twice, and in the name of the author.
func score(book Book, words []string) int {
	title, author := strings.ToLower(book.Title), strings.ToLower(book.Author)
	points := 0
	for _, word := range words {
		if strings.Contains(title, word) {
			points += 2
		}
		if strings.Contains(author, word) {
			points++
		}
	}
	return points
}

func find(_ latchwork.Context, question Question) (Found, error) {
	words := strings.Fields(strings.ToLower(question.Words))
	if len(words) == 0 {
		return Found{}, latchwork.Fail(latchwork.InvalidInput, "the question has no words")
	}
	if len(words) > 20 {
		return Found{}, latchwork.Fail(latchwork.InvalidInput, "the question has more than 20 words")
	}
	most := question.Most
	if most <= 0 || most > 50 {
		most = 50
	}
	var found Found
	for _, book := range question.Books {
		points := score(book, words)
		if points == 0 {
			continue
		}
		if book.Lent {
			found.Lent++
			continue
		}
		found.Hits = append(found.Hits, Hit{book.Title, book.Shelf, points})
	}
	slices.SortStableFunc(found.Hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Title, b.Title))
	})
	if len(found.Hits) > most {
		found.Hits = found.Hits[:most]
	}
	return found, nil
}

// main is empty: the host calls the operators.
func main() {}
