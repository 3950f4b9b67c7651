package main

import (
	"cmp"
	"slices"
	"sync"

	"latchwork"
)

type Flat struct {
	Cents int64  `json:"cents"`
	Rooms []Room `json:"rooms"`
}

type Room struct {
	Tenant string `json:"tenant"`
	Area   int64  `json:"area"`
}

type Share struct {
	Tenant string `json:"tenant"`
	Cents  int64  `json:"cents"`
}

type Split struct {
	Shares []Share `json:"shares"`
}

func init() {
	latchwork.Step("RentSplit.Divide", latchwork.Spec{Description: "Divides the rent of a flat by the areas of its rooms."}, divide)
}

func divide(_ latchwork.Context, flat Flat) (Split, error) {
	if flat.Cents < 0 || flat.Cents > 100_000_000 || len(flat.Rooms) == 0 {
		return Split{}, latchwork.Fail(latchwork.InvalidInput, "a rent of up to a million and at least one room are needed")
	}
	area := int64(0)
	for _, room := range flat.Rooms {
		if room.Area < 1 || room.Area > 10_000 {
			return Split{}, latchwork.Fail(latchwork.InvalidInput, "the area of %s is not between 1 and 10000", room.Tenant)
		}
		area += room.Area
	}
	shares := make([]Share, len(flat.Rooms))
	var group sync.WaitGroup
	for i, room := range flat.Rooms {
		group.Add(1)
		go func() {
			defer group.Done()
			shares[i] = Share{room.Tenant, flat.Cents * room.Area / area}
		}()
	}
	group.Wait()
	slices.SortStableFunc(shares, func(a, b Share) int { return cmp.Compare(a.Tenant, b.Tenant) })
	rest := flat.Cents
	for _, share := range shares {
		rest -= share.Cents
	}
	for i := range rest {
		shares[i].Cents++
	}
	return Split{shares}, nil
}

// main is empty: the host calls the operators.
func main() {}
