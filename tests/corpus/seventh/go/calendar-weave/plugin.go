package main

import (
	"sort"

	"latchwork"
)

type Entry struct {
	At    string `json:"at"`
	Title string `json:"title"`
}

type Calendars struct {
	Personal []Entry `json:"personal"`
	Team     []Entry `json:"team"`
}

type Line struct {
	At    string `json:"at"`
	Title string `json:"title"`
	From  string `json:"from"`
}

type Day struct {
	Lines []Line `json:"lines"`
	Busy  int    `json:"busy"`
}

func init() {
	latchwork.Step("Calendar.Weave", latchwork.Spec{
		Description: "Weaves a personal and a team calendar into one day, ordered by time.",
	}, weave)
}

// source offers the entries of one calendar, each normalised to a line.
func source(from string, entries []Entry) <-chan Line {
	lines := make(chan Line, len(entries))
	go func() {
		defer close(lines)
		for _, entry := range entries {
			lines <- Line{At: entry.At, Title: entry.Title, From: from}
		}
	}()
	return lines
}

func weave(_ latchwork.Context, calendars Calendars) (Day, error) {
	personal := source("personal", calendars.Personal)
	team := source("team", calendars.Team)
	day := Day{Lines: []Line{}}
	for personal != nil || team != nil {
		var line Line
		var open bool
		select {
		case line, open = <-personal:
			if !open {
				personal = nil
				continue
			}
		case line, open = <-team:
			if !open {
				team = nil
				continue
			}
		}
		day.Lines = append(day.Lines, line)
	}
	sort.SliceStable(day.Lines, func(i, j int) bool { return day.Lines[i].At < day.Lines[j].At })
	for i, line := range day.Lines {
		if i == 0 || line.At != day.Lines[i-1].At {
			day.Busy++
		}
	}
	return day, nil
}

// main is empty: the host calls the operators.
func main() {}
