package main

import (
	"errors"
	"log/slog"
	"time"

	"latchwork"
)

type Order struct {
	Sluice  string `json:"sluice"`
	Percent int    `json:"percent"`
}

type Ack struct {
	Ticket string `json:"ticket"`
}

type Done struct {
	Sluice  string `json:"sluice"`
	Ticket  string `json:"ticket"`
	Retries int    `json:"retries"`
}

func init() {
	latchwork.Step("Sluice.Command", latchwork.Spec{
		Description: "Sends an opening to the control room of a sluice and waits for its ticket.",
		Effects:     []latchwork.Effect{latchwork.ExternalWrite},
		Determinism: latchwork.External,
	}, command)
}

const longest = 2 * time.Minute

func command(_ latchwork.Context, order Order) (Done, error) {
	if order.Percent < 0 || order.Percent > 100 {
		return Done{}, latchwork.Fail(latchwork.InvalidInput, "an opening of %d percent", order.Percent)
	}
	pause := 5 * time.Second
	retries := 0
	for {
		ack, err := latchwork.Call[Ack]("ControlRoom.Open", order)
		if err == nil {
			return Done{order.Sluice, ack.Ticket, retries}, nil
		}
		if !busy(err) {
			return Done{}, err
		}
		retries++
		slog.Warn("the control room is busy", "sluice", order.Sluice, "retries", retries)
		time.Sleep(pause)
		pause = min(2*pause, longest)
	}
}

// busy reports whether the control room only has too many orders at the moment.
func busy(err error) bool {
	var failure *latchwork.Failure
	return errors.As(err, &failure) && failure.Code == latchwork.RateLimit
}

func main() {}
