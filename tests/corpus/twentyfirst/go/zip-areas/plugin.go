package main

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"latchwork"
)

type Parcel struct {
	Zip string `json:"zip"`
	// Day is the day on which the parcel is handed in.
	Day string `json:"day"`
}

type Batch struct {
	Parcels []Parcel `json:"parcels"`
}

type Delivery struct {
	Zip  string `json:"zip"`
	Area string `json:"area"`
	Due  string `json:"due"`
}

type Plan struct {
	Deliveries []Delivery     `json:"deliveries"`
	Areas      map[string]int `json:"areas"`
}

// area is a row of the config: the days that a parcel to this area takes.
type area struct {
	Name string `json:"name"`
	Days int    `json:"days"`
}

var zipFormat = regexp.MustCompile(`^[0-9]{5}$`)

func init() {
	latchwork.Tool("Parcel.Plan", latchwork.Spec{
		Description: "Finds the area and the due day of parcels. The config has the areas by the begin of their codes.",
		Effects:     []latchwork.Effect{latchwork.ReadOnly},
		Determinism: latchwork.Pure,
	}, plan)
}

func plan(_ *latchwork.Invocation, batch Batch) (Plan, error) {
	var areas map[string]area
	configured, err := latchwork.Config("areas", &areas)
	if err != nil {
		return Plan{}, err
	}
	if !configured || len(areas) == 0 {
		return Plan{}, latchwork.Fail(latchwork.MissingRequiredContext, "the config has no areas")
	}
	made := Plan{Deliveries: []Delivery{}, Areas: map[string]int{}}
	var unknown []string
	for i, parcel := range batch.Parcels {
		day, err := time.Parse(time.DateOnly, parcel.Day)
		if err != nil || !zipFormat.MatchString(parcel.Zip) {
			return Plan{}, latchwork.Fail(latchwork.InvalidInput, "parcel %d has no valid code or day", i+1)
		}
		found, ok := longest(areas, parcel.Zip)
		if !ok {
			unknown = append(unknown, parcel.Zip)
			continue
		}
		made.Deliveries = append(made.Deliveries, Delivery{parcel.Zip, found.Name, due(day, found.Days)})
		made.Areas[found.Name]++
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		return Plan{}, latchwork.Fail(latchwork.InvalidInput, "no area: %s", strings.Join(slices.Compact(unknown), ", "))
	}
	return made, nil
}

// longest returns the area with the longest prefix of a code. Two prefixes of one length cannot both fit, so the order
// of the map does not matter.
func longest(areas map[string]area, zip string) (best area, found bool) {
	length := -1
	for prefix, candidate := range areas {
		if strings.HasPrefix(zip, prefix) && len(prefix) > length {
			best, found, length = candidate, true, len(prefix)
		}
	}
	return best, found
}

// due adds working days. An area takes at most 30.
func due(day time.Time, days int) string {
	for left := min(days, 30); left > 0; {
		day = day.AddDate(0, 0, 1)
		if weekday := day.Weekday(); weekday != time.Saturday && weekday != time.Sunday {
			left--
		}
	}
	return day.Format(time.DateOnly)
}

// main is empty: the host calls the operators.
func main() {}
