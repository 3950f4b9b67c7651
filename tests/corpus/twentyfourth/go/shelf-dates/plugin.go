package main

import (
	"sort"
	"time"

	"latchwork"
)

type Item struct {
	Name       string `json:"name"`
	BestBefore string `json:"best_before"`
}

type Shelf struct {
	Items []Item `json:"items"`
}

type Sorted struct {
	CheckedOn string   `json:"checked_on"`
	Remove    []string `json:"remove"`
	Stay      []string `json:"stay"`
}

func init() {
	latchwork.Step("Shelf.Check", latchwork.Spec{
		Description: "Lists the goods of a shelf that are past their date, and those that stay.",
		Input: latchwork.Schema(`{"type":"object","required":["items"],"additionalProperties":false,"properties":{
			"items":{"type":"array","minItems":1,"maxItems":1000,"items":{"type":"object","required":["name","best_before"],"additionalProperties":false,"properties":{
				"name":{"type":"string","minLength":1,"maxLength":80},"best_before":{"type":"string","pattern":"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}}}}}}`),
		Output: latchwork.Schema(`{"type":"object","required":["checked_on","remove","stay"],"additionalProperties":false,"properties":{
			"checked_on":{"type":"string"},
			"remove":{"type":"array","items":{"type":"string"}},
			"stay":{"type":"array","items":{"type":"string"}}}}`),
		// The result depends on the day of the job.
		Determinism: latchwork.Stable,
	}, check)
}

func check(_ latchwork.Context, shelf Shelf) (Sorted, error) {
	today := time.Now().UTC().Format(time.DateOnly)
	var remove, stay []string
	for _, item := range shelf.Items {
		if _, err := time.Parse(time.DateOnly, item.BestBefore); err != nil {
			return Sorted{}, latchwork.Fail(latchwork.InvalidInput, "%s has no valid date", item.Name)
		}
		if item.BestBefore < today {
			remove = append(remove, item.Name)
		} else {
			stay = append(stay, item.Name)
		}
	}
	sort.Strings(remove)
	sort.Strings(stay)
	return Sorted{today, remove, stay}, nil
}

func main() {}
