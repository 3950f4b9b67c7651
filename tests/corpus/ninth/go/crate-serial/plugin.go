package main

import "latchwork"

type Crate struct {
	Depot   int    `json:"depot"`
	Day     int    `json:"day"`
	Content string `json:"content"`
}

type Delivery struct {
	Crates []Crate `json:"crates"`
}

type Label struct {
	Serial  uint64 `json:"serial"`
	Content string `json:"content"`
}

type Labels struct {
	Labels []Label `json:"labels"`
}

func init() {
	latchwork.Step("Crate.Number", latchwork.Spec{
		Description: "Numbers the crates of a delivery.",
	}, number)
}

// A serial has the depot in its upper 16 bits, the day of the year in the next 16, and the number within the
// delivery in the lower 32.
func number(_ latchwork.Context, delivery Delivery) (Labels, error) {
	if len(delivery.Crates) > 5000 {
		return Labels{}, latchwork.Fail(latchwork.InvalidInput, "a delivery has at most 5000 crates")
	}
	made := Labels{Labels: []Label{}}
	for i, crate := range delivery.Crates {
		if crate.Depot < 1 || crate.Depot > 999 {
			return Labels{}, latchwork.Fail(latchwork.InvalidInput, "there is no depot %d", crate.Depot)
		}
		if crate.Day < 1 || crate.Day > 366 {
			return Labels{}, latchwork.Fail(latchwork.InvalidInput, "there is no day %d", crate.Day)
		}
		if len(crate.Content) > 100 {
			return Labels{}, latchwork.Fail(latchwork.InvalidInput, "the content of crate %d is too long", i+1)
		}
		serial := uint64(crate.Depot)<<48 | uint64(crate.Day)<<32 | uint64(i+1)
		made.Labels = append(made.Labels, Label{serial, crate.Content})
	}
	return made, nil
}

func main() {}
