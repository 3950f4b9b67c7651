// Command lodge-rates asks several mountain lodges for their rates and lists the cheapest first.
package main

import (
	"cmp"
	"slices"
	"sync"

	"latchwork"
)

type Input struct {
	Night string `json:"night"`
	// Lodges has the names of the lodges, by their ids.
	Lodges map[string]string `json:"lodges"`
	Beds   int               `json:"beds"`
}

type Ask struct {
	Lodge string `json:"lodge"`
	Night string `json:"night"`
	Beds  int    `json:"beds"`
}

type Rate struct {
	Cents int `json:"cents"`
}

type Offer struct {
	Lodge string `json:"lodge"`
	Name  string `json:"name"`
	Cents int    `json:"cents"`
}

type Offers struct {
	Night  string   `json:"night"`
	Offers []Offer  `json:"offers"`
	Silent []string `json:"silent"`
}

func init() {
	latchwork.Step("Lodge.Compare", latchwork.Spec{
		Description: "Lists the rates of several lodges, the cheapest first.",
		Determinism: latchwork.External,
	}, compare)
}

func compare(_ latchwork.Context, in Input) (Offers, error) {
	if in.Beds < 1 || in.Beds > 40 {
		return Offers{}, latchwork.Fail(latchwork.InvalidInput, "1 to 40 beds can be asked for, not %d", in.Beds)
	}
	if len(in.Lodges) == 0 || len(in.Lodges) > 30 {
		return Offers{}, latchwork.Fail(latchwork.InvalidInput, "1 to 30 lodges can be asked, not %d", len(in.Lodges))
	}
	offers := make([]Offer, len(in.Lodges))
	failed := make([]error, len(in.Lodges))
	var asked sync.WaitGroup
	next := 0
	for id, name := range in.Lodges {
		place := next
		next++
		asked.Add(1)
		go func() {
			defer asked.Done()
			rate, err := latchwork.Call[Rate]("Lodge.Rate", Ask{id, in.Night, in.Beds})
			offers[place], failed[place] = Offer{id, name, rate.Cents}, err
		}()
	}
	asked.Wait()

	made := Offers{Night: in.Night, Offers: []Offer{}, Silent: []string{}}
	for place, offer := range offers {
		if failed[place] != nil {
			made.Silent = append(made.Silent, offer.Lodge)
		} else {
			made.Offers = append(made.Offers, offer)
		}
	}
	if len(made.Offers) == 0 {
		return Offers{}, latchwork.Fail(latchwork.DependencyUnavailable, "no lodge has answered")
	}
	slices.Sort(made.Silent)
	slices.SortFunc(made.Offers, func(a, b Offer) int {
		return cmp.Or(cmp.Compare(a.Cents, b.Cents), cmp.Compare(a.Lodge, b.Lodge))
	})
	return made, nil
}

// main is empty: the host calls the operators.
func main() {}
