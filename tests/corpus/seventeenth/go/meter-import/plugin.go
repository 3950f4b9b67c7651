// Command meter-import reads the file of a meter round and adds up the consumption of each street.
package main

import (
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"latchwork"
)

type Input struct {
	Round string `json:"round"`
	// Rows has one line for each meter: street;meter;reading before;reading now.
	Rows string `json:"rows"`
}

type Street struct {
	Street string `json:"street"`
	Meters int    `json:"meters"`
	Used   int    `json:"used"`
}

type Result struct {
	Round   string   `json:"round"`
	Streets []Street `json:"streets"`
	Skipped int      `json:"skipped"`
}

func init() {
	latchwork.Step("Meter.Import", latchwork.Spec{
		Description: "Adds up the consumption of each street. Rows that cannot be read are skipped and logged.",
	}, read)
}

// reading returns street and consumption of a row. The reason is empty if the row can be read.
func reading(row string) (street string, used int, reason string) {
	cells := strings.Split(row, ";")
	if len(cells) != 4 {
		return "", 0, "it does not have four cells"
	}
	before, err := strconv.Atoi(cells[2])
	if err != nil {
		return "", 0, "the reading before is no number"
	}
	now, err := strconv.Atoi(cells[3])
	if err != nil {
		return "", 0, "the reading now is no number"
	}
	if now < before || now-before > 100000 {
		return "", 0, "the meter cannot have used that much"
	}
	return strings.TrimSpace(cells[0]), now - before, ""
}

func read(_ latchwork.Context, in Input) (Result, error) {
	if in.Round == "" {
		return Result{}, latchwork.Fail(latchwork.InvalidInput, "the round has no name")
	}
	made := Result{Round: in.Round, Streets: []Street{}}
	places, line := map[string]int{}, 0
	for row := range strings.Lines(in.Rows) {
		line++
		row = strings.TrimSpace(row)
		if row == "" {
			continue
		}
		street, used, reason := reading(row)
		if reason != "" {
			slog.Warn("row skipped", "line", line, "reason", reason)
			made.Skipped++
			continue
		}
		place, known := places[street]
		if !known {
			place = len(made.Streets)
			places[street] = place
			made.Streets = append(made.Streets, Street{Street: street})
		}
		made.Streets[place].Meters++
		made.Streets[place].Used += used
	}
	if len(made.Streets) == 0 {
		return Result{}, latchwork.Fail(latchwork.InvalidInput, "round %s has no row that can be read", in.Round)
	}
	slices.SortFunc(made.Streets, func(a, b Street) int { return strings.Compare(a.Street, b.Street) })
	return made, nil
}

// main is empty: the host calls the operators.
func main() {}
