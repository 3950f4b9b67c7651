// Command picnic-pitch books the picnic pitches of a park. A cancelled booking stays in the book with its state.
package main

import (
	"encoding/json"
	"time"

	"latchwork"
)

type Wish struct {
	Pitch string `json:"pitch"`
	Group string `json:"group"`
	Day   string `json:"day"`
}

type Booked struct {
	Booking string `json:"booking"`
	State   string `json:"state"`
}

type Cancel struct {
	Booking string `json:"booking"`
}

// Entry is a booking as the book has it.
type Entry struct {
	Wish
	State string `json:"state"`
}

func init() {
	latchwork.Tool("Pitch.Book", latchwork.Spec{
		Description:     "Books a pitch for a group.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 72 * time.Hour,
	}, book)
	latchwork.Tool("Pitch.Cancel", latchwork.Spec{
		Description:     "Cancels a booking.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 72 * time.Hour,
	}, cancel)
}

func read(booking string) (entry Entry, found bool, err error) {
	text, found, err := latchwork.KVGet(booking)
	if err != nil || !found {
		return entry, false, err
	}
	if err := json.Unmarshal(text, &entry); err != nil {
		return entry, true, latchwork.Fail(latchwork.SchemaValidationFailed, "booking %s is damaged: %w", booking, err)
	}
	return entry, true, nil
}

func write(call *latchwork.Invocation, booking, operation string, entry Entry) (Booked, error) {
	text, err := json.Marshal(entry)
	if err != nil {
		return Booked{}, latchwork.Fail(latchwork.InvalidInput, "the booking cannot be kept: %w", err)
	}
	if err := latchwork.KVSet(booking, text); err != nil {
		return Booked{}, err
	}
	return answer(call, booking, operation, entry.State), nil
}

func answer(call *latchwork.Invocation, booking, operation, state string) Booked {
	call.Changed(latchwork.Change{ResourceType: "booking", ResourceID: booking, Operation: operation})
	return Booked{booking, state}
}

func book(call *latchwork.Invocation, wish Wish) (Booked, error) {
	if wish.Pitch == "" || len(wish.Pitch) > 20 || wish.Group == "" || len(wish.Group) > 200 {
		return Booked{}, latchwork.Fail(latchwork.InvalidInput, "a booking has a pitch and a group")
	}
	day, err := time.Parse(time.DateOnly, wish.Day)
	if err != nil {
		return Booked{}, latchwork.Fail(latchwork.InvalidInput, "%q is no day: %w", wish.Day, err)
	}
	entry, found, err := read(call.ExternalKey)
	if err != nil {
		return Booked{}, err
	}
	if found {
		return answer(call, call.ExternalKey, "create", entry.State), nil
	}
	if time.Now().After(day.AddDate(0, 0, 1)) {
		return Booked{}, latchwork.Fail(latchwork.InvalidInput, "%s has passed", wish.Day)
	}
	return write(call, call.ExternalKey, "create", Entry{wish, "booked"})
}

func cancel(call *latchwork.Invocation, in Cancel) (Booked, error) {
	if in.Booking == "" || len(in.Booking) > 128 {
		return Booked{}, latchwork.Fail(latchwork.InvalidInput, "the booking is missing")
	}
	entry, found, err := read(in.Booking)
	if err != nil {
		return Booked{}, err
	}
	if !found {
		return Booked{}, latchwork.Fail(latchwork.InvalidInput, "there is no booking %s", in.Booking)
	}
	entry.State = "cancelled"
	return write(call, in.Booking, "update", entry)
}

// main is empty: the host calls the operators.
func main() {}
