// Command coach-stops plans the times of a coach at its stops, and shows the progress on the board of the depot.
package main

import (
	"fmt"
	"log/slog"

	"latchwork"
)

type Stop struct {
	Name string `json:"name"`
	// Minutes is the drive from the stop before.
	Minutes int `json:"minutes"`
	// Wait is the time at the stop, in minutes.
	Wait int `json:"wait"`
}

type Tour struct {
	Line   string `json:"line"`
	Leaves string `json:"leaves"`
	Stops  []Stop `json:"stops"`
}

type Planned struct {
	Name    string `json:"name"`
	Arrives string `json:"arrives"`
	Leaves  string `json:"leaves"`
}

type Timetable struct {
	Line    string    `json:"line"`
	Minutes int       `json:"minutes"`
	Stops   []Planned `json:"stops"`
}

// Progress is what the board shows after each stop.
type Progress struct {
	Line string    `json:"line"`
	Left int       `json:"left"`
	Done []Planned `json:"done"`
}

func init() {
	latchwork.Step("Coach.Plan", latchwork.Spec{
		Description: "Plans the times of a coach at its stops.",
	}, plan)
}

// clock writes minutes since midnight as a time of the day. A tour may end on the next day.
func clock(minutes int) string {
	return fmt.Sprintf("%02d:%02d", minutes/60%24, minutes%60)
}

func plan(_ latchwork.Context, tour Tour) (Timetable, error) {
	var hour, minute int
	if n, err := fmt.Sscanf(tour.Leaves, "%d:%d", &hour, &minute); n != 2 || err != nil {
		return Timetable{}, latchwork.Fail(latchwork.InvalidInput, "%q is no time of the day", tour.Leaves)
	}
	if hour < 0 || hour > 23 || minute < 0 || minute > 59 {
		return Timetable{}, latchwork.Fail(latchwork.InvalidInput, "%q is no time of the day", tour.Leaves)
	}
	if len(tour.Stops) == 0 {
		return Timetable{}, latchwork.Fail(latchwork.InvalidInput, "line %s has no stops", tour.Line)
	}
	start := hour*60 + minute
	now := start
	done := make([]Planned, 0, len(tour.Stops))
	for i, stop := range tour.Stops {
		if stop.Name == "" || stop.Minutes < 0 || stop.Wait < 0 || stop.Minutes+stop.Wait > 24*60 {
			return Timetable{}, latchwork.Fail(latchwork.InvalidInput, "stop %d of line %s cannot be planned", i+1, tour.Line)
		}
		now += stop.Minutes
		arrives := now
		now += stop.Wait
		done = append(done, Planned{stop.Name, clock(arrives), clock(now)})
		if err := latchwork.Emit("coach.progress", Progress{tour.Line, len(tour.Stops) - i - 1, done}); err != nil {
			return Timetable{}, err
		}
	}
	slog.Info("planned", "line", tour.Line, "stops", len(done))
	return Timetable{tour.Line, now - start, done}, nil
}

// main is empty: the host calls the operators.
func main() {}
