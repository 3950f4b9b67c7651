package main

import (
	"fmt"
	"strings"
	"time"

	"latchwork"
)

// Party is a group at the ticket office of a chairlift.
type Party struct {
	Station string  `json:"station"`
	Guests  []Guest `json:"guests"`
}

// Guest is a member of a party. Ages are in years.
type Guest struct {
	Name string `json:"name"`
	Age  int    `json:"age"`
}

// Tickets are the tickets of a party, with the fare in cents.
type Tickets struct {
	Numbers []string `json:"numbers"`
	Fare    int      `json:"fare"`
}

// office is the till of the station: its fares, and the series of its ticket roll.
var office = struct {
	child, adult, senior int
	series               string
}{child: 650, adult: 1400, senior: 1100, series: roll()}

// roll names the paper roll that is put in each morning.
func roll() string { return strings.ToUpper(time.Now().UTC().Format("Jan02")) }

func init() {
	latchwork.Step("Chairlift.Ticket", latchwork.Spec{
		Description: "Works out fare and ticket numbers of a party.",
	}, ticket)
}

func ticket(_ latchwork.Context, party Party) (Tickets, error) {
	if len(party.Guests) == 0 {
		return Tickets{}, latchwork.Fail(latchwork.InvalidInput, "the party has no guests")
	}
	made := Tickets{}
	for i, guest := range party.Guests {
		switch {
		case guest.Age < 0 || guest.Age > 120:
			return Tickets{}, latchwork.Fail(latchwork.InvalidInput, "the age of guest %d is not possible", i+1)
		case guest.Age < 6:
			continue
		case guest.Age < 16:
			made.Fare += office.child
		case guest.Age >= 65:
			made.Fare += office.senior
		default:
			made.Fare += office.adult
		}
		made.Numbers = append(made.Numbers, fmt.Sprintf("%s-%s-%03d", party.Station, office.series, i+1))
	}
	return made, nil
}

func main() {}
