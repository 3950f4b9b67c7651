package main

import (
	"sort"
	"strings"
	"time"

	"latchwork"
)

type Caravan struct {
	Leader    string            `json:"leader"`
	Departure string            `json:"departure"`
	Animals   int               `json:"animals"`
	Papers    map[string]string `json:"papers"`
}

type Cleared struct {
	Leader string   `json:"leader"`
	Papers []string `json:"papers"`
	// RenewBy is the first day on which one of the papers is too old.
	RenewBy string `json:"renew_by"`
}

// required has the papers of a caravan, with the days for which each one is valid.
var required = map[string]int{
	"border-pass":      180,
	"cargo-list":       14,
	"vet-certificate":  30,
	"water-permit":     90,
	"guide-license":    365,
	"insurance-letter": 365,
}

func init() {
	latchwork.Step("Caravan.Clear", latchwork.Spec{
		Description: "Checks the papers of a caravan before its departure.",
	}, clear)
}

// check returns an error if a required paper is missing, unreadable or too old on the day of departure.
func check(caravan Caravan, departure time.Time) error {
	for paper, days := range required {
		if paper == "vet-certificate" && caravan.Animals == 0 {
			continue
		}
		text, found := caravan.Papers[paper]
		if !found {
			return latchwork.Fail(latchwork.MissingRequiredContext, "the %s is missing", strings.ReplaceAll(paper, "-", " "))
		}
		issued, err := time.Parse(time.DateOnly, text)
		if err != nil {
			return latchwork.Fail(latchwork.InvalidInput, "the %s has no valid date", strings.ReplaceAll(paper, "-", " "))
		}
		if issued.AddDate(0, 0, days).Before(departure) {
			return latchwork.Fail(latchwork.PolicyDenied, "the %s is too old", strings.ReplaceAll(paper, "-", " "))
		}
	}
	return nil
}

func clear(_ latchwork.Context, caravan Caravan) (Cleared, error) {
	departure, err := time.Parse(time.DateOnly, caravan.Departure)
	if err != nil {
		return Cleared{}, latchwork.Fail(latchwork.InvalidInput, "the departure has no valid date")
	}
	if err := check(caravan, departure); err != nil {
		return Cleared{}, err
	}

	cleared := Cleared{Leader: caravan.Leader, Papers: []string{}}
	var first time.Time
	for paper, days := range required {
		issued, err := time.Parse(time.DateOnly, caravan.Papers[paper])
		if err != nil {
			continue
		}
		cleared.Papers = append(cleared.Papers, paper)
		if end := issued.AddDate(0, 0, days); first.IsZero() || end.Before(first) {
			first = end
		}
	}
	sort.Strings(cleared.Papers)
	cleared.RenewBy = first.Format(time.DateOnly)
	return cleared, nil
}

// main is empty: the host calls the operators.
func main() {}
