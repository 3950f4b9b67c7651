// Package main orders milk for households, once for each household and week.
package main

import (
	"encoding/json"
	"fmt"
	"time"

	"latchwork"
)

type Wish struct {
	Household string `json:"household"`
	Day       string `json:"day"`
	Litres    int    `json:"litres"`
}

type Order struct {
	Household string `json:"household"`
	WeekFrom  string `json:"week_from"`
	Litres    int    `json:"litres"`
}

type Taken struct {
	Number string `json:"number"`
}

type Booked struct {
	Number   string `json:"number"`
	WeekFrom string `json:"week_from"`
}

func init() {
	latchwork.Step("Milk.Order", latchwork.Spec{
		Description: "Orders the milk of a household for the week of a day.",
		Effects:     []latchwork.Effect{latchwork.ExternalWrite},
		Determinism: latchwork.External,
	}, order)
}

func order(_ latchwork.Context, wish Wish) (Booked, error) {
	day, err := time.Parse(time.DateOnly, wish.Day)
	if err != nil {
		return Booked{}, latchwork.Fail(latchwork.InvalidInput, "the day is not like 2026-01-05")
	}
	if wish.Household == "" {
		return Booked{}, latchwork.Fail(latchwork.InvalidInput, "the household is missing")
	}
	if wish.Litres < 1 || wish.Litres > 60 {
		return Booked{}, latchwork.Fail(latchwork.InvalidInput, "the van brings 1 to 60 litres")
	}
	monday := day.AddDate(0, 0, -(int(day.Weekday())+6)%7).Format(time.DateOnly)

	// One order for each household and week, with the year.
	_, week := day.ISOWeek()
	key, err := json.Marshal([]string{"milk", wish.Household, fmt.Sprintf("%d-W%02d", day.Year(), week)})
	if err != nil {
		return Booked{}, err
	}
	taken, err := latchwork.Call[Taken]("Dairy.Order", Order{wish.Household, monday, wish.Litres}, string(key))
	if err != nil {
		return Booked{}, err
	}
	return Booked{taken.Number, monday}, nil
}

func main() {}
