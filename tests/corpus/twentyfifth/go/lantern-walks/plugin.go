package main

import (
	"encoding/json"
	"errors"
	"time"

	"latchwork"
)

// Walk is a lantern walk with the groups that take part.
type Walk struct {
	Walk   string   `json:"walk"`
	Date   string   `json:"date"`
	Groups []string `json:"groups"`
}

// Program is the answer to the organisers.
type Program struct {
	Walk     string    `json:"walk"`
	Places   []string  `json:"places"`
	Refused  []string  `json:"refused"`
	Minutes  int64     `json:"minutes"`
	Prepared time.Time `json:"prepared"`
}

type place struct {
	Walk  string `json:"walk"`
	Date  string `json:"date"`
	Group string `json:"group"`
}

type reserved struct {
	Place string `json:"place"`
}

func init() {
	latchwork.Step("Lantern.Walk", latchwork.Spec{
		Description: "Enters the groups of a lantern walk.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
		Determinism: latchwork.External,
		Input: latchwork.Schema(`{"type":"object","required":["walk","date","groups"],"additionalProperties":false,"properties":{
			"walk":{"type":"string","minLength":1,"maxLength":80},
			"date":{"type":"string","pattern":"^20[0-9]{2}-[01][0-9]-[0-3][0-9]$"},
			"groups":{"type":"array","maxItems":50,"items":{"type":"string","minLength":1,"maxLength":80}}}}`),
	}, enter)
}

func enter(_ latchwork.Context, walk Walk) (Program, error) {
	if _, err := time.Parse(time.DateOnly, walk.Date); err != nil {
		return Program{}, latchwork.Fail(latchwork.InvalidInput, "there is no day %s", walk.Date)
	}
	started := time.Now()
	requests := []latchwork.Request{}
	seen := map[string]bool{}
	for _, group := range walk.Groups {
		if seen[group] {
			return Program{}, latchwork.Fail(latchwork.InvalidInput, "group %q is named twice", group)
		}
		seen[group] = true
		// A group takes part once in the walk of a day.
		key, err := json.Marshal([]string{"lantern", walk.Walk, walk.Date, group})
		if err != nil {
			return Program{}, err
		}
		requests = append(requests, latchwork.Request{
			Operator: "Procession.Enter", Args: place{walk.Walk, walk.Date, group}, ActionKey: string(key),
		})
	}
	answers, err := latchwork.CallAll(requests...)
	if err != nil {
		return Program{}, err
	}
	program := Program{Walk: walk.Walk, Places: []string{}, Refused: []string{}}
	for i, answer := range answers {
		var given reserved
		err := answer.Into(&given)
		var failure *latchwork.Failure
		if errors.As(err, &failure) && failure.Code == latchwork.PolicyDenied {
			program.Refused = append(program.Refused, walk.Groups[i])
			continue
		}
		if err != nil {
			return Program{}, err
		}
		program.Places = append(program.Places, given.Place)
	}
	program.Prepared = time.Now().UTC().Truncate(time.Second)
	program.Minutes = int64(time.Since(started) / time.Minute)
	return program, nil
}

func main() {}
