package main

import (
	"math/rand/v2"
	"time"

	"latchwork"
)

type Rooms struct {
	Rooms map[string]int `json:"rooms"`
}

type Offer struct {
	Room    string    `json:"room"`
	Until   time.Time `json:"until"`
	Waited  float64   `json:"waited"`
	Voucher int       `json:"voucher"`
}

func init() {
	latchwork.Step("Slot.Offer", latchwork.Spec{
		Description: "Offers a free room for a quarter of an hour.",
		// Room, time and voucher differ from job to job.
		Determinism: latchwork.Stable,
	}, offer)
}

func offer(_ latchwork.Context, rooms Rooms) (Offer, error) {
	start := time.Now()
	time.Sleep(1500 * time.Millisecond)
	for room, seats := range rooms.Rooms {
		if seats > 1 {
			now := time.Now()
			return Offer{room, now.Add(15 * time.Minute).UTC(), now.Sub(start).Seconds(), 1000 + rand.IntN(9000)}, nil
		}
	}
	return Offer{}, latchwork.Fail(latchwork.InvalidInput, "no room is free")
}

// main is empty: the host calls the operators.
func main() {}
