// Command crew-overtime adds up the working time of a crew and finds out who has worked too long.
package main

import (
	"cmp"
	"slices"
	"time"

	"latchwork"
)

// daily is the working time of a day that needs no rest afterwards.
const daily = 10 * time.Hour

type Shift struct {
	Worker string    `json:"worker"`
	From   time.Time `json:"from"`
	Until  time.Time `json:"until"`
}

type Input struct {
	Project string  `json:"project"`
	Shifts  []Shift `json:"shifts"`
}

type Worker struct {
	Name    string        `json:"name"`
	Shifts  int           `json:"shifts"`
	Worked  time.Duration `json:"worked"`
	Longest time.Duration `json:"longest"`
	Rest    bool          `json:"rest"`
}

type Sheet struct {
	Project string        `json:"project"`
	Workers []Worker      `json:"workers"`
	Total   time.Duration `json:"total"`
}

func init() {
	latchwork.Step("Crew.Sum", latchwork.Spec{
		Description: "Adds up the working time of a crew, in nanoseconds.",
	}, sum)
}

func sum(_ latchwork.Context, in Input) (Sheet, error) {
	if in.Project == "" {
		return Sheet{}, latchwork.Fail(latchwork.InvalidInput, "the project has no name")
	}
	sheet := Sheet{Project: in.Project, Workers: []Worker{}}
	places := map[string]int{}
	for i, shift := range in.Shifts {
		if shift.Worker == "" {
			return Sheet{}, latchwork.Fail(latchwork.InvalidInput, "shift %d has no worker", i+1)
		}
		worked := shift.Until.Sub(shift.From)
		if worked <= 0 || worked > 24*time.Hour {
			return Sheet{}, latchwork.Fail(latchwork.InvalidInput,
				"shift %d of %s does not last between 0 and 24 hours", i+1, shift.Worker)
		}
		place, known := places[shift.Worker]
		if !known {
			place = len(sheet.Workers)
			places[shift.Worker] = place
			sheet.Workers = append(sheet.Workers, Worker{Name: shift.Worker})
		}
		worker := &sheet.Workers[place]
		worker.Shifts++
		worker.Worked += worked
		worker.Longest = max(worker.Longest, worked)
		worker.Rest = worker.Longest > daily
		sheet.Total += worked
	}
	slices.SortFunc(sheet.Workers, func(a, b Worker) int {
		return cmp.Or(cmp.Compare(b.Worked, a.Worked), cmp.Compare(a.Name, b.Name))
	})
	return sheet, nil
}

// main is empty: the host calls the operators.
func main() {}
