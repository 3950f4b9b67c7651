package main

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"latchwork"
)

type Sailing struct {
	Ship    string `json:"ship"`
	Sailing string `json:"sailing"`
}

type Query struct {
	Sailing
	Cursor string `json:"cursor"`
}

type Count struct {
	Class   string `json:"class"`
	Persons int    `json:"persons"`
}

type Declaration struct {
	Sailing
	Classes []Count `json:"classes"`
}

type Result struct {
	Reference string `json:"reference"`
	Persons   int    `json:"persons"`
	Pages     int    `json:"pages"`
}

type Page struct {
	Passengers []struct{ ID, Class string }
	Next       string
}

const mostPages, mostPersons, tries = 40, 3000, 3

func init() {
	latchwork.Step("FerryManifest.Declare", latchwork.Spec{
		Description: "Counts the passengers of a sailing and declares them to the port.",
		Determinism: latchwork.External,
		Effects:     []latchwork.Effect{latchwork.ExternalWrite},
		Input: latchwork.Schema(`{
  "type": "object", "additionalProperties": false, "required": ["ship", "sailing"],
  "properties": {
    "ship": {"type": "string", "minLength": 1, "maxLength": 60},
    "sailing": {"type": "string", "pattern": "^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}$"}}}`),
	}, declare)
}

func declare(_ latchwork.Context, sailing Sailing) (Result, error) {
	classes, persons := map[string]int{}, map[string]bool{}
	result := Result{}
	for cursor := ""; result.Pages == 0 || cursor != ""; {
		if result.Pages == mostPages {
			return Result{}, latchwork.Fail(latchwork.DependencyUnavailable, "the list has more than %d pages", mostPages)
		}
		page, err := page(Query{sailing, cursor})
		if err != nil {
			return Result{}, err
		}
		result.Pages++
		cursor = page.Next
		for _, one := range page.Passengers {
			if len(one.ID) > 100 || len(one.Class) > 100 {
				return Result{}, latchwork.Fail(latchwork.SchemaValidationFailed, "a passenger has a very long id or class")
			}
			// A booking that moved during the reading can be on two pages.
			if !persons[one.ID] {
				persons[one.ID] = true
				classes[one.Class]++
			}
		}
		if len(persons) > mostPersons {
			return Result{}, latchwork.Fail(latchwork.DependencyUnavailable, "the list has more than %d persons", mostPersons)
		}
	}
	result.Persons = len(persons)
	declaration := Declaration{sailing, []Count{}}
	for class, count := range classes {
		declaration.Classes = append(declaration.Classes, Count{class, count})
	}
	slices.SortFunc(declaration.Classes, func(a, b Count) int { return strings.Compare(a.Class, b.Class) })
	// One declaration for each sailing of a ship. The time of a sailing has its date. A list of texts is always JSON.
	key, _ := json.Marshal([]string{"declare", sailing.Ship, sailing.Sailing})
	declared, err := latchwork.Call[struct{ Reference string }]("Port.Declare", declaration, string(key))
	if err != nil {
		return Result{}, err
	}
	result.Reference = declared.Reference
	return result, nil
}

// page asks for a page at most three times. The host has made its own retries before each failure.
func page(query Query) (Page, error) {
	var last error
	for range tries {
		page, err := latchwork.Call[Page]("Booking.Passengers", query)
		if err == nil {
			return page, nil
		}
		last = err
		var failure *latchwork.Failure
		if !errors.As(err, &failure) || failure.Code != latchwork.RateLimit && failure.Code != latchwork.NetworkTimeout {
			break
		}
		time.Sleep(time.Minute)
	}
	return Page{}, last
}

func main() {}
