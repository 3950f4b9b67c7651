package main

import (
	"strconv"
	"time"

	"latchwork"
)

type Setpoint struct {
	House   string `json:"house"`
	Percent int    `json:"percent"`
}

type Set struct {
	House   string `json:"house"`
	Percent int    `json:"percent"`
}

type House struct {
	House string `json:"house"`
}

func init() {
	latchwork.Tool("Vent.Set", latchwork.Spec{
		Description:     "Sets the opening of the roof vents of a greenhouse.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 24 * time.Hour, // A second write of the same opening changes nothing.
	}, set).Verify(check)
	latchwork.Tool("Vent.Read", latchwork.Spec{
		Description: "Reads the opening of the roof vents of a greenhouse.",
	}, read)
}

func set(call *latchwork.Invocation, wanted Setpoint) (Set, error) {
	if wanted.House == "" || len(wanted.House) > 60 {
		return Set{}, latchwork.Fail(latchwork.InvalidInput, "the name of the house has 1 to 60 bytes")
	}
	if wanted.Percent < 0 || wanted.Percent > 100 {
		return Set{}, latchwork.Fail(latchwork.InvalidInput, "an opening is 0 to 100 percent")
	}
	percent := strconv.Itoa(wanted.Percent)
	if err := latchwork.KVSet("vent/"+wanted.House, []byte(percent)); err != nil {
		return Set{}, err
	}
	call.Changed(latchwork.Change{
		ResourceType: "vent", ResourceID: "vent/" + wanted.House, Operation: "update", Version: percent,
	})
	return Set{wanted.House, wanted.Percent}, nil
}

func read(_ *latchwork.Invocation, asked House) (Set, error) {
	text, found, err := latchwork.KVGet("vent/" + asked.House)
	if err != nil {
		return Set{}, err
	}
	if !found {
		return Set{}, latchwork.Fail(latchwork.MissingRequiredContext, "house %s has no opening yet", asked.House)
	}
	percent, err := strconv.Atoi(string(text))
	return Set{asked.House, percent}, err
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(change.ResourceID)
	if err != nil {
		return "", err
	}
	if !found || string(text) != change.Version {
		return "the opening is " + string(text), nil
	}
	return "", nil
}

func main() {}
