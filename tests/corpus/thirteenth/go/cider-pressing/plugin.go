// Command cider-pressing books fruit into the press of a cider cooperative.
package main

import (
	"encoding/json"
	"time"

	"latchwork"
)

type Delivery struct {
	Grower   string `json:"grower"`
	Variety  string `json:"variety"`
	Kilogram int    `json:"kilogram"`
}

type Pressing struct {
	Number   string    `json:"number"`
	BookedAt time.Time `json:"booked_at"`
	Litres   int       `json:"litres_expected"`
}

type entry struct {
	Delivery Delivery `json:"delivery"`
	Pressing Pressing `json:"pressing"`
}

func init() {
	latchwork.Tool("Cider.Book", latchwork.Spec{
		Description: "Books a delivery of fruit for pressing.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
		// The booking is named by the external key, so a repeated call finds it.
		IdempotentByKey: 7 * 24 * time.Hour,
	}, book)
}

func book(call *latchwork.Invocation, delivery Delivery) (Pressing, error) {
	if delivery.Grower == "" || delivery.Variety == "" {
		return Pressing{}, latchwork.Fail(latchwork.InvalidInput, "grower and variety are needed")
	}
	if delivery.Kilogram < 50 || delivery.Kilogram > 40_000 {
		return Pressing{}, latchwork.Fail(latchwork.InvalidInput, "the press takes 50 to 40000 kg, not %d", delivery.Kilogram)
	}
	old, found, err := latchwork.KVGet("press/" + call.ExternalKey)
	if err != nil {
		return Pressing{}, err
	}
	if found {
		// Booked by an earlier try: keep its time.
		var booked entry
		if err := json.Unmarshal(old, &booked); err != nil {
			return Pressing{}, latchwork.Fail(latchwork.DependencyUnavailable, "the booking cannot be read: %w", err)
		}
		return booked.Pressing, nil
	}
	made := Pressing{
		Number:   call.ExternalKey,
		BookedAt: time.Now().UTC().Truncate(time.Second),
		Litres:   delivery.Kilogram * yield(delivery.Variety) / 100,
	}
	value, err := json.Marshal(entry{delivery, made})
	if err != nil {
		return Pressing{}, err
	}
	if err := latchwork.KVSet("press/"+call.ExternalKey, value); err != nil {
		return Pressing{}, err
	}
	call.Changed(latchwork.Change{
		ResourceType: "pressing", ResourceID: "press/" + call.ExternalKey, Operation: "create",
		Version: made.BookedAt.Format(time.RFC3339),
	})
	call.Receipt(map[string]string{"number": made.Number})
	return made, nil
}

// yield is the juice in litres from 100 kg.
func yield(variety string) int {
	switch variety {
	case "Dabinett", "Kingston Black":
		return 62
	case "Bramley":
		return 70
	}
	return 65
}

// main is empty: the host calls the operators.
func main() {}
