// Gathers the titles of pages. A reader passes the answers on while the collector works on the earlier ones.
package main

import (
	"log/slog"
	"strings"

	"latchwork"
)

type Pages struct {
	URLs []string `json:"urls"`
}

type Titles struct {
	Titles  []string `json:"titles"`
	Missing int      `json:"missing"`
}

type page struct {
	Title string `json:"title"`
}

func init() {
	latchwork.Step("Page.Gather", latchwork.Spec{
		Description: "Gathers the titles of pages.",
		Determinism: latchwork.External,
	}, gather)
}

func gather(_ latchwork.Context, pages Pages) (Titles, error) {
	if len(pages.URLs) == 0 || len(pages.URLs) > 50 {
		return Titles{}, latchwork.Fail(latchwork.InvalidInput, "1 to 50 pages, please")
	}
	requests := make([]latchwork.Request, len(pages.URLs))
	for i, url := range pages.URLs {
		requests[i] = latchwork.Request{Operator: "Web.Title", Args: map[string]string{"url": url}}
	}
	answers, err := latchwork.CallAll(requests...)
	if err != nil {
		return Titles{}, err
	}
	read := make(chan page)
	go func() {
		for i, answer := range answers {
			var one page
			if err := answer.Into(&one); err != nil {
				slog.Warn("no title", "url", pages.URLs[i], "error", err)
				continue
			}
			read <- one
		}
	}()
	made := Titles{Titles: []string{}}
	for range answers {
		one := <-read
		if title := strings.TrimSpace(one.Title); title != "" {
			made.Titles = append(made.Titles, title)
		} else {
			made.Missing++
		}
	}
	return made, nil
}

// main is empty: the host calls the operators.
func main() {}
