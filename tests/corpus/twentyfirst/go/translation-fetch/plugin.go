package main

import (
	"errors"
	"log/slog"
	"time"

	"latchwork"
)

type Page struct {
	Language string   `json:"language"`
	Texts    []string `json:"texts"`
}

type Translated struct {
	Language string   `json:"language"`
	Texts    []string `json:"texts"`
	// Waits counts the pauses in which the service had no capacity.
	Waits int `json:"waits"`
}

type request struct {
	Language string `json:"language"`
	Text     string `json:"text"`
}

type response struct {
	Text string `json:"text"`
}

const pause = 30 * time.Second

func init() {
	latchwork.Step("Page.Translate", latchwork.Spec{
		Description: "Translates the texts of a page in their order.",
		Input: latchwork.Schema(`{"type":"object","properties":{` +
			`"language":{"type":"string","pattern":"^[a-z]{2}$"},` +
			`"texts":{"type":"array","minItems":1,"maxItems":100,"items":{"type":"string","maxLength":2000}}},` +
			`"required":["language","texts"],"additionalProperties":false}`),
		Determinism: latchwork.External,
	}, translate)
}

func translate(_ latchwork.Context, page Page) (Translated, error) {
	made := Translated{Language: page.Language, Texts: make([]string, len(page.Texts))}
	for i, text := range page.Texts {
		if text == "" {
			continue
		}
		answer, waits, err := fetch(request{page.Language, text})
		if err != nil {
			return Translated{}, err
		}
		if answer.Text == "" {
			return Translated{}, latchwork.Fail(latchwork.DependencyUnavailable, "text %d has an empty translation", i+1)
		}
		made.Texts[i] = answer.Text
		made.Waits += waits
	}
	return made, nil
}

// fetch pauses while the service has no capacity. Other failures are final.
func fetch(wanted request) (response, int, error) {
	for waits := 0; ; waits++ {
		answer, err := latchwork.Call[response]("Translation.Fetch", wanted)
		if err == nil {
			return answer, waits, nil
		}
		var failure *latchwork.Failure
		if !errors.As(err, &failure) || failure.Code != latchwork.RateLimit {
			return response{}, waits, err
		}
		slog.Info("the service has no capacity", "waits", waits+1)
		time.Sleep(pause)
	}
}

// main is empty: the host calls the operators.
func main() {}
