// Books a slot of a tower crane for each lift of a building site. The booking service allows few requests per minute.
package main

import (
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"latchwork"
)

type lift struct {
	Load    string `json:"load"`
	Kilos   int    `json:"kilos"`
	Storey  int    `json:"storey"`
	Minutes int    `json:"minutes"`
}

type site struct {
	Site  string `json:"site"`
	Day   string `json:"day"`
	Lifts []lift `json:"lifts"`
}

type booking struct {
	Site    string `json:"site"`
	Day     string `json:"day"`
	Load    string `json:"load"`
	Minutes int    `json:"minutes"`
}

type slot struct {
	Start string `json:"start"`
}

type row struct {
	Load  string `json:"load"`
	Start string `json:"start"`
}

type schedule struct {
	Rows []row `json:"rows"`
	// Waits is the number of pauses that the booking service asked for.
	Waits int `json:"waits"`
}

const (
	strongest = 8000
	pause     = time.Minute
	input     = `{"type": "object", "required": ["site", "day", "lifts"], "additionalProperties": false, "properties": {
	"site": {"type": "string", "pattern": "^[A-Z0-9-]{1,20}$"},
	"day": {"type": "string", "pattern": "^20[0-9]{2}-[0-9]{2}-[0-9]{2}$"},
	"lifts": {"type": "array", "maxItems": 40, "items": {"type": "object", "required": ["load", "kilos", "storey", "minutes"],
		"additionalProperties": false, "properties": {
			"load": {"type": "string", "minLength": 1, "maxLength": 60},
			"kilos": {"type": "integer", "minimum": 1, "maximum": 20000},
			"storey": {"type": "integer", "minimum": 0, "maximum": 80},
			"minutes": {"type": "integer", "minimum": 5, "maximum": 120}}}}}}`
)

func init() {
	latchwork.Step("Crane.Schedule", latchwork.Spec{
		Description: "Books a crane slot for each lift of a day.",
		Input:       json.RawMessage(input),
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
		Determinism: latchwork.External,
	}, plan)
}

// book books one slot. If the service is busy, it waits for the next minute. A sleep of a step takes no real time.
func book(args booking, waits *int) (slot, error) {
	key, _ := json.Marshal([]string{"crane", args.Site, args.Day, args.Load})
	for {
		answer, err := latchwork.Call[slot]("Slot.Book", args, string(key))
		var failure *latchwork.Failure
		if errors.As(err, &failure) && failure.Code == latchwork.RateLimit {
			*waits++
			slog.Info("the booking service is busy", "load", args.Load)
			time.Sleep(max(pause, failure.RetryAfter))
			continue
		}
		return answer, err
	}
}

func plan(_ latchwork.Context, in site) (schedule, error) {
	out := schedule{Rows: []row{}}
	loads := map[string]bool{}
	for _, one := range in.Lifts {
		if loads[one.Load] {
			return out, latchwork.Fail(latchwork.InvalidInput, "the load %q is listed twice", one.Load)
		}
		loads[one.Load] = true
		if one.Kilos > strongest {
			return out, latchwork.Fail(latchwork.InvalidInput, "the load %q is too heavy for the crane", one.Load)
		}
	}
	for _, one := range in.Lifts {
		answer, err := book(booking{in.Site, in.Day, one.Load, one.Minutes + one.Storey/10}, &out.Waits)
		if err != nil {
			return out, err
		}
		if answer.Start == "" {
			return out, latchwork.Fail(latchwork.SchemaValidationFailed, "Slot.Book gave no start for %q", one.Load)
		}
		out.Rows = append(out.Rows, row{one.Load, answer.Start})
	}
	return out, nil
}

// main is empty: the host calls the operators.
func main() {}
