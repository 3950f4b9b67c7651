// Command hostel-beds finds hostels with enough free beds for a group.
package main

import (
	"errors"
	"log/slog"
	"slices"

	"latchwork"
)

type Group struct {
	Night   string   `json:"night"`
	Beds    int      `json:"beds"`
	Hostels []string `json:"hostels"`
}

type Question struct {
	Hostel string `json:"hostel"`
	Night  string `json:"night"`
}

type Free struct {
	Beds  int `json:"beds"`
	Cents int `json:"cents"`
}

type Offer struct {
	Hostel string `json:"hostel"`
	Beds   int    `json:"beds"`
	Cents  int    `json:"cents"`
}

type Offers struct {
	Offers []Offer  `json:"offers"`
	Silent []string `json:"silent"`
}

func init() {
	latchwork.Step("Hostel.Search", latchwork.Spec{
		Description: "Asks hostels for free beds, and asks those without an answer once more.",
		Determinism: latchwork.External,
	}, search)
}

// ask asks all hostels side by side. It returns the offers, and the hostels that gave no answer in this round.
func ask(group Group, hostels []string) ([]Offer, []string, error) {
	requests := make([]latchwork.Request, 0, len(hostels))
	for _, hostel := range hostels {
		requests = append(requests, latchwork.Request{Operator: "Hostel.Beds", Args: Question{hostel, group.Night}})
	}
	answers, err := latchwork.CallAll(requests...)
	if err != nil {
		return nil, nil, err
	}
	var offers []Offer
	var silent []string
	for i, answer := range answers {
		var free Free
		err := answer.Into(&free)
		var failure *latchwork.Failure
		switch {
		case err == nil:
			if free.Beds >= group.Beds {
				offers = append(offers, Offer{hostels[i], free.Beds, free.Cents})
			}
		case errors.As(err, &failure) && failure.Code == latchwork.InvalidInput:
			slog.Warn("no such hostel", "hostel", hostels[i])
		case errors.As(err, &failure):
			silent = append(silent, hostels[i])
		default:
			return nil, nil, err
		}
	}
	return offers, silent, nil
}

func search(_ latchwork.Context, group Group) (Offers, error) {
	if group.Beds < 1 || group.Night == "" {
		return Offers{}, latchwork.Fail(latchwork.InvalidInput, "the group needs a night and at least one bed")
	}
	if len(group.Hostels) == 0 || len(group.Hostels) > 40 {
		return Offers{}, latchwork.Fail(latchwork.InvalidInput, "a search has 1 to 40 hostels")
	}
	found := Offers{Offers: []Offer{}, Silent: []string{}}
	asked := group.Hostels
	for range 2 {
		offers, silent, err := ask(group, asked)
		if err != nil {
			return Offers{}, err
		}
		found.Offers = append(found.Offers, offers...)
		asked = silent
	}
	found.Silent = append(found.Silent, asked...)
	slices.SortStableFunc(found.Offers, func(a, b Offer) int { return a.Cents - b.Cents })
	return found, nil
}

// main is empty: the host calls the operators.
func main() {}
