// Command organ-wind computes the wind that the divisions of a pipe organ need.
package main

import (
	"cmp"
	"slices"
	"sync"

	"latchwork"
)

type Stop struct {
	Name string `json:"name"`
	Feet int    `json:"feet"`
	Rank int    `json:"ranks"`
}

// Division may have divisions of its own, such as the box of a swell.
type Division struct {
	Name      string     `json:"name"`
	Chest     string     `json:"chest"`
	Stops     []Stop     `json:"stops"`
	Divisions []Division `json:"divisions,omitempty"`
}

type Organ struct {
	Divisions []Division `json:"divisions"`
}

type Chest struct {
	Chest  string   `json:"chest"`
	Litres int      `json:"litres_per_second"`
	Stops  []string `json:"stops"`
}

type Demand struct {
	Chests []Chest `json:"chests"`
	Total  int     `json:"total"`
}

// litres of a rank by its length in feet, computed once in a run.
var litres = map[int]int{}

func init() {
	latchwork.Step("Organ.Wind", latchwork.Spec{
		Description: "Computes the wind that the chests of an organ need if every stop is drawn.",
	}, demand)
}

func demand(_ latchwork.Context, organ Organ) (Demand, error) {
	byChest := map[string][]Stop{}
	for _, division := range organ.Divisions {
		if err := collect(division, byChest); err != nil {
			return Demand{}, err
		}
	}
	chests := make([]Chest, 0, len(byChest))
	for name := range byChest {
		chests = append(chests, Chest{Chest: name})
	}
	slices.SortFunc(chests, func(a, b Chest) int { return cmp.Compare(a.Chest, b.Chest) })
	var all sync.WaitGroup
	for i := range chests {
		all.Add(1)
		go func() {
			defer all.Done()
			chests[i] = fill(chests[i].Chest, byChest[chests[i].Chest])
		}()
	}
	all.Wait()
	made := Demand{Chests: chests}
	for _, chest := range chests {
		made.Total += chest.Litres
	}
	return made, nil
}

// collect goes as deep as the input is nested.
func collect(division Division, byChest map[string][]Stop) error {
	for _, stop := range division.Stops {
		if stop.Feet < 1 || stop.Feet > 64 || stop.Rank < 1 || stop.Rank > 12 {
			return latchwork.Fail(latchwork.InvalidInput, "%s: stop %q is out of range", division.Name, stop.Name)
		}
		if _, known := litres[stop.Feet]; !known {
			litres[stop.Feet] = 2 + stop.Feet*stop.Feet/3
		}
		byChest[division.Chest] = append(byChest[division.Chest], stop)
	}
	for _, inner := range division.Divisions {
		if err := collect(inner, byChest); err != nil {
			return err
		}
	}
	return nil
}

func fill(name string, stops []Stop) Chest {
	made := Chest{Chest: name, Stops: []string{}}
	for _, stop := range stops {
		made.Litres += litres[stop.Feet] * stop.Rank
		made.Stops = append(made.Stops, stop.Name)
	}
	slices.Sort(made.Stops)
	return made
}

// main is empty: the host calls the operators.
func main() {}
