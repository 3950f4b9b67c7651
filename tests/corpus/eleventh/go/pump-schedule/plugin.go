package main

import (
	"time"

	"latchwork"
)

type Request struct {
	Pump         string `json:"pump"`
	From         string `json:"from"`
	To           string `json:"to"`
	EveryMinutes int    `json:"every_minutes"`
	Litres       int    `json:"litres"`
}

type Run struct {
	Pump   string `json:"pump"`
	At     string `json:"at"`
	Litres int    `json:"litres"`
}

type Schedule struct {
	Runs  []Run `json:"runs"`
	Total int   `json:"total"`
}

func init() {
	latchwork.Step("Pump.Schedule", latchwork.Spec{
		Description: "Lists the runs of an irrigation pump between two days, the last day included.",
	}, schedule)
}

func day(text string) (time.Time, error) {
	at, err := time.Parse("2006-01-02", text)
	if err != nil {
		return at, latchwork.Fail(latchwork.InvalidInput, "%q is no day, such as 2026-05-01", text)
	}
	return at, nil
}

func schedule(_ latchwork.Context, request Request) (Schedule, error) {
	from, err := day(request.From)
	if err != nil {
		return Schedule{}, err
	}
	to, err := day(request.To)
	if err != nil {
		return Schedule{}, err
	}
	if to.Before(from) || to.After(from.AddDate(1, 0, 0)) {
		return Schedule{}, latchwork.Fail(latchwork.InvalidInput, "a schedule has between one day and one year")
	}
	if request.EveryMinutes < 1 || request.Litres < 1 || request.Litres > 100_000 {
		return Schedule{}, latchwork.Fail(latchwork.InvalidInput, "the interval or the amount is out of range")
	}
	end := to.AddDate(0, 0, 1)
	made := Schedule{Runs: []Run{}}
	for at := from; at.Before(end); at = at.Add(time.Duration(request.EveryMinutes) * time.Minute) {
		made.Runs = append(made.Runs, Run{request.Pump, at.Format("2006-01-02T15:04"), request.Litres})
		made.Total += request.Litres
	}
	return made, nil
}

func main() {}
