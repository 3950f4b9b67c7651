package main

import (
	"sort"
	"strings"
	"sync"

	"latchwork"
)

type Book struct {
	Pages []string `json:"pages"`
}

type Term struct {
	Word  string `json:"word"`
	Pages []int  `json:"pages"`
}

type Index struct {
	Terms []Term `json:"terms"`
}

func init() {
	latchwork.Step("Book.Index", latchwork.Spec{
		Description: "Makes an index of the long words of a book.",
		Determinism: latchwork.Pure,
	}, index)
}

// index splits the pages side by side. Each goroutine has a place of its own for its words.
func index(_ latchwork.Context, book Book) (Index, error) {
	words := make([]map[string]bool, len(book.Pages))
	var done sync.WaitGroup
	for i, page := range book.Pages {
		done.Add(1)
		go func() {
			defer done.Done()
			words[i] = map[string]bool{}
			for _, word := range strings.Fields(strings.ToLower(page)) {
				if word = strings.Trim(word, ".,;:!?"); len(word) > 5 {
					words[i][word] = true
				}
			}
		}()
	}
	done.Wait()
	pages := map[string][]int{}
	for i, found := range words {
		for word := range found {
			pages[word] = append(pages[word], i+1)
		}
	}
	made := Index{Terms: []Term{}}
	for word, numbers := range pages {
		made.Terms = append(made.Terms, Term{word, numbers})
	}
	sort.Slice(made.Terms, func(i, j int) bool { return made.Terms[i].Word < made.Terms[j].Word })
	return made, nil
}

func main() {}
