package main

import (
	"time"

	"latchwork"
)

type Invoice struct {
	Number string `json:"number"`
	Due    string `json:"due"`
	AsOf   string `json:"as_of,omitempty"`
}

type Level struct {
	Number string `json:"number"`
	Days   int    `json:"days"`
	Level  int    `json:"level"`
}

func init() {
	latchwork.Step("DunningLevel.Find", latchwork.Spec{
		Description: "Finds the dunning level of an invoice.",
		Determinism: latchwork.Pure,
	}, find)
}

func date(text string, otherwise time.Time) (time.Time, error) {
	if text == "" {
		return otherwise, nil
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return day, latchwork.Fail(latchwork.InvalidInput, "%q is not a date", text)
	}
	return day, nil
}

func find(_ latchwork.Context, invoice Invoice) (Level, error) {
	due, err := date(invoice.Due, time.Time{})
	if err != nil {
		return Level{}, err
	}
	today, err := date(invoice.AsOf, time.Now())
	if err != nil {
		return Level{}, err
	}
	days := max(int(today.Sub(due)/(24*time.Hour)), 0)
	level := 0
	for _, limit := range []int{1, 15, 30} {
		if days >= limit {
			level++
		}
	}
	return Level{invoice.Number, days, level}, nil
}

// main is empty: the host calls the operators.
func main() {}
