// Package main counts the names in a parish register, which is read page by page.
package main

import (
	"errors"
	"log/slog"
	"strings"
	"time"

	"latchwork"
)

const mostPages = 200

type Parish struct {
	Parish  string `json:"parish"`
	Surname string `json:"surname"`
}

type Request struct {
	Parish string `json:"parish"`
	Page   string `json:"page"`
}

type Page struct {
	Names []string `json:"names"`
	Next  string   `json:"next"`
}

type Roll struct {
	Names    int `json:"names"`
	Bearers  int `json:"bearers"`
	PagesSum int `json:"pages"`
}

func init() {
	latchwork.Step("Parish.Count", latchwork.Spec{
		Description: "Counts the bearers of a surname in a parish register.",
		Determinism: latchwork.External,
	}, count)
}

func count(_ latchwork.Context, parish Parish) (Roll, error) {
	if parish.Parish == "" || parish.Surname == "" {
		return Roll{}, latchwork.Fail(latchwork.InvalidInput, "parish and surname are needed")
	}
	var roll Roll
	for next := "first"; next != ""; {
		page, err := latchwork.Call[Page]("Register.Page", Request{parish.Parish, next})
		var failure *latchwork.Failure
		if errors.As(err, &failure) && failure.Code == latchwork.RateLimit {
			// The registry serves few readers at a time. The pages read so far are not worth losing.
			slog.Info("the registry is busy", "page", next)
			time.Sleep(max(failure.RetryAfter, 20*time.Second))
			continue
		}
		if err != nil {
			return Roll{}, err
		}
		if roll.PagesSum++; roll.PagesSum > mostPages {
			return Roll{}, latchwork.Fail(latchwork.InvalidInput, "the register of %s has more than %d pages", parish.Parish, mostPages)
		}
		for _, name := range page.Names {
			roll.Names++
			if strings.HasSuffix(name, " "+parish.Surname) {
				roll.Bearers++
			}
		}
		next = page.Next
	}
	return roll, nil
}

func main() {}
