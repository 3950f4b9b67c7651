package main

import (
	"strings"

	"latchwork"
)

type Item struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

type Feeds struct {
	News  []Item `json:"news"`
	Blogs []Item `json:"blogs"`
}

type Merged struct {
	Items []Item `json:"items"`
	Twice int    `json:"twice"`
}

func init() {
	latchwork.Step("Feed.Merge", latchwork.Spec{
		Description: "Merges two feeds into one without the items that both have.",
		Determinism: latchwork.Pure,
	}, merge)
}

// cleaned sends the items of a feed with their titles in one line.
func cleaned(items []Item) <-chan Item {
	out := make(chan Item, len(items))
	go func() {
		defer close(out)
		for _, item := range items {
			item.Title = strings.Join(strings.Fields(item.Title), " ")
			out <- item
		}
	}()
	return out
}

func merge(_ latchwork.Context, feeds Feeds) (Merged, error) {
	merged, seen := Merged{Items: []Item{}}, map[string]bool{}
	add := func(item Item) {
		if seen[item.ID] {
			merged.Twice++
			return
		}
		seen[item.ID] = true
		merged.Items = append(merged.Items, item)
	}
	news, blogs := cleaned(feeds.News), cleaned(feeds.Blogs)
	for news != nil || blogs != nil {
		select {
		case item, more := <-news:
			if !more {
				news = nil
				continue
			}
			add(item)
		case item, more := <-blogs:
			if !more {
				blogs = nil
				continue
			}
			add(item)
		}
	}
	return merged, nil
}

// main is empty: the host calls the operators.
func main() {}
