// The hours of a bakery: shifts of one week become hours by person, with night hours counted apart.
package main

import (
	"encoding/json"
	"sort"
	"sync"

	"latchwork"
)

type shift struct {
	Person string `json:"person"`
	Day    int    `json:"day"`
	// From and To are minutes since midnight. A shift that ends at or before its start ends on the next day.
	From int `json:"from"`
	To   int `json:"to"`
}

type week struct {
	Shifts []shift `json:"shifts"`
}

type hours struct {
	Person       string `json:"person"`
	Shifts       int    `json:"shifts"`
	Minutes      int    `json:"minutes"`
	NightMinutes int    `json:"night_minutes"`
	// Busiest is the day with most minutes, the earliest of them if several have as many.
	Busiest int `json:"busiest_day"`
}

type table struct {
	People  []hours `json:"people"`
	Minutes int     `json:"minutes"`
}

const (
	day       = 24 * 60
	nightFrom = 22 * 60
	nightTo   = 5 * 60
	input     = `{"type": "object", "required": ["shifts"], "additionalProperties": false, "properties": {
	"shifts": {"type": "array", "maxItems": 600, "items": {"type": "object", "required": ["person", "day", "from", "to"],
		"additionalProperties": false, "properties": {
			"person": {"type": "string", "minLength": 1, "maxLength": 60},
			"day": {"type": "integer", "minimum": 1, "maximum": 7},
			"from": {"type": "integer", "minimum": 0, "maximum": 1439},
			"to": {"type": "integer", "minimum": 0, "maximum": 1439}}}}}}`
)

func init() {
	latchwork.Step("Shift.Hours", latchwork.Spec{
		Description: "Sums the hours of a week by person.",
		Input:       json.RawMessage(input),
	}, sum)
}

// within returns the minutes of a span that are between two times.
func within(from, to, start, end int) int { return max(0, min(to, end)-max(from, start)) }

func night(from, to int) int {
	return within(from, to, 0, nightTo) + within(from, to, nightFrom, day+nightTo) + within(from, to, day+nightFrom, 2*day)
}

func sumOf(person string, shifts []shift) hours {
	out := hours{Person: person, Shifts: len(shifts)}
	byDay := [8]int{}
	for _, one := range shifts {
		to := one.To
		if to <= one.From {
			to += day
		}
		out.Minutes += to - one.From
		out.NightMinutes += night(one.From, to)
		byDay[one.Day] += to - one.From
	}
	for number, minutes := range byDay {
		if minutes > byDay[out.Busiest] {
			out.Busiest = number
		}
	}
	return out
}

func sum(_ latchwork.Context, in week) (table, error) {
	shifts := map[string][]shift{}
	for _, one := range in.Shifts {
		shifts[one.Person] = append(shifts[one.Person], one)
	}
	people := make([]string, 0, len(shifts))
	for person := range shifts {
		people = append(people, person)
	}
	sort.Strings(people)

	// Each goroutine has its own place in the table, so their order does not matter.
	out := table{People: make([]hours, len(people))}
	var all sync.WaitGroup
	for i, person := range people {
		all.Add(1)
		go func() {
			defer all.Done()
			out.People[i] = sumOf(person, shifts[person])
		}()
	}
	all.Wait()
	for _, one := range out.People {
		out.Minutes += one.Minutes
	}
	return out, nil
}

// main is empty: the host calls the operators.
func main() {}
