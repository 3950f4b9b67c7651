package main

import (
	"hash/maphash"

	"latchwork"
)

type Parcel struct {
	ID     string `json:"id"`
	Postal string `json:"postal"`
}

type Batch struct {
	Lanes   int      `json:"lanes"`
	Parcels []Parcel `json:"parcels"`
}

type Lane struct {
	Lane    int      `json:"lane"`
	Parcels []string `json:"parcels"`
}

type Sorted struct {
	Lanes []Lane `json:"lanes"`
}

// seed is the seed of all hashes of this plugin.
var seed = maphash.MakeSeed()

func init() {
	latchwork.Step("Parcel.Sort", latchwork.Spec{
		Description: "Spreads parcels over the lanes of a sorter by their postal codes.",
		Determinism: latchwork.Pure,
	}, sortParcels)
}

func sortParcels(_ latchwork.Context, batch Batch) (Sorted, error) {
	if batch.Lanes < 1 || batch.Lanes > 32 {
		return Sorted{}, latchwork.Fail(latchwork.InvalidInput, "%d lanes: 1 to 32 are possible", batch.Lanes)
	}
	lanes := make([]Lane, batch.Lanes)
	for i := range lanes {
		lanes[i] = Lane{Lane: i + 1, Parcels: []string{}}
	}
	for _, parcel := range batch.Parcels {
		// Parcels with one postal code go to one lane.
		at := int(maphash.String(seed, parcel.Postal) % uint64(batch.Lanes))
		lanes[at].Parcels = append(lanes[at].Parcels, parcel.ID)
	}
	return Sorted{lanes}, nil
}

// main is empty: the host calls the operators.
func main() {}
