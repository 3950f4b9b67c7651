// Package main keeps the place of each moped of a rental: with a rider, or in a bay.
package main

import (
	"latchwork"
)

type Ride struct {
	Moped string `json:"moped"`
	Rider string `json:"rider"`
}

type Return struct {
	Moped string `json:"moped"`
	Bay   int    `json:"bay"`
}

type Place struct {
	Moped string `json:"moped"`
	Place string `json:"place"`
}

func init() {
	latchwork.Tool("Moped.Assign", latchwork.Spec{
		Description: "Gives a moped to a rider.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, assign).Verify(check)
	latchwork.Tool("Moped.Park", latchwork.Spec{
		Description: "Puts a moped into a bay.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, park).Verify(check)
}

func assign(call *latchwork.Invocation, ride Ride) (Place, error) {
	if !known(ride.Moped) || ride.Rider == "" || len(ride.Rider) > 200 {
		return Place{}, latchwork.Fail(latchwork.InvalidInput, "moped and rider are needed")
	}
	return put(call, "ride", ride.Moped, "rider "+ride.Rider)
}

func park(call *latchwork.Invocation, back Return) (Place, error) {
	if !known(back.Moped) || back.Bay < 1 || back.Bay > 80 {
		return Place{}, latchwork.Fail(latchwork.InvalidInput, "the moped goes into a bay from 1 to 80")
	}
	return put(call, "bay", back.Moped, "bay "+string(rune('0'+back.Bay/10))+string(rune('0'+back.Bay%10)))
}

func known(moped string) bool { return moped != "" && len(moped) <= 40 }

func put(call *latchwork.Invocation, kind, moped, place string) (Place, error) {
	if err := latchwork.KVSet("moped/"+moped, []byte(place)); err != nil {
		return Place{}, err
	}
	call.Changed(latchwork.Change{ResourceType: kind, ResourceID: moped, Operation: "update", Version: place})
	return Place{moped, place}, nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	place, found, err := latchwork.KVGet("moped/" + change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the moped is not in the list", nil
	case string(place) != change.Version:
		return "the moped is now: " + string(place), nil
	}
	return "", nil
}

func main() {}
