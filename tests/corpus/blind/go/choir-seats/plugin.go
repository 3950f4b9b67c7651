package main

import (
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"

	"latchwork"
)

type Choir struct {
	Concert string   `json:"concert"`
	Singers []Singer `json:"singers"`
}

type Singer struct {
	Name  string `json:"name"`
	Voice string `json:"voice"`
}

type Row struct {
	Voice string   `json:"voice"`
	Names []string `json:"names"`
}

type Seats struct {
	Rows []Row `json:"rows"`
}

func init() {
	latchwork.Step("ChoirSeats.Arrange", latchwork.Spec{Description: "Arranges the singers of a concert in rows."}, arrange)
}

func generator(concert string) *rand.Rand {
	sum := fnv.New64a()
	sum.Write([]byte(concert))
	return rand.New(rand.NewPCG(sum.Sum64(), 0x5eed))
}

func arrange(_ latchwork.Context, choir Choir) (Seats, error) {
	voices := map[string][]string{}
	for _, singer := range choir.Singers {
		if singer.Name == "" {
			return Seats{}, latchwork.Fail(latchwork.InvalidInput, "a singer has no name")
		}
		voices[singer.Voice] = append(voices[singer.Voice], singer.Name)
	}
	random := generator(choir.Concert)
	seats := Seats{Rows: []Row{}}
	for _, voice := range slices.Sorted(maps.Keys(voices)) {
		names := slices.Sorted(slices.Values(voices[voice]))
		random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		seats.Rows = append(seats.Rows, Row{voice, names})
	}
	return seats, nil
}

// main is empty: the host calls the operators.
func main() {}
