// Command estuary-counts adds up the bird counts of an estuary, by sector and by species.
package main

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"latchwork"
)

type Sighting struct {
	Species string `json:"species"`
	Count   int    `json:"count"`
}

type Sector struct {
	Name      string     `json:"name"`
	Sightings []Sighting `json:"sightings"`
}

type Survey struct {
	Sectors []Sector `json:"sectors"`
}

type SectorSum struct {
	Sector  string `json:"sector"`
	Birds   int    `json:"birds"`
	Species int    `json:"species"`
}

type SpeciesSum struct {
	Species string `json:"species"`
	Birds   int    `json:"birds"`
}

type Sums struct {
	Sectors []SectorSum  `json:"sectors"`
	Species []SpeciesSum `json:"species"`
	Common  string       `json:"common"`
}

func init() {
	latchwork.Step("Estuary.Sum", latchwork.Spec{
		Description: "Adds up the bird counts of an estuary by sector and by species.",
	}, sum)
}

// counted returns the birds of a sector by species.
func counted(sector Sector) map[string]int {
	birds := map[string]int{}
	for _, sighting := range sector.Sightings {
		birds[strings.ToLower(strings.TrimSpace(sighting.Species))] += sighting.Count
	}
	return birds
}

func sum(_ latchwork.Context, survey Survey) (Sums, error) {
	if len(survey.Sectors) == 0 {
		return Sums{}, latchwork.Fail(latchwork.InvalidInput, "the survey has no sectors")
	}
	for _, sector := range survey.Sectors {
		for _, sighting := range sector.Sightings {
			if strings.TrimSpace(sighting.Species) == "" || sighting.Count < 0 || sighting.Count > 1_000_000 {
				return Sums{}, latchwork.Fail(latchwork.InvalidInput, "sector %s has an unusable count", sector.Name)
			}
		}
	}
	// Each sector has a goroutine of its own.
	parts := make([]map[string]int, len(survey.Sectors))
	var group sync.WaitGroup
	for i, sector := range survey.Sectors {
		group.Add(1)
		go func() {
			defer group.Done()
			parts[i] = counted(sector)
		}()
	}
	group.Wait()

	sums := Sums{Sectors: []SectorSum{}, Species: []SpeciesSum{}}
	total := map[string]int{}
	for i, part := range parts {
		birds := 0
		for species, count := range part {
			birds += count
			total[species] += count
		}
		sums.Sectors = append(sums.Sectors, SectorSum{survey.Sectors[i].Name, birds, len(part)})
	}
	most := -1
	for _, species := range slices.Sorted(maps.Keys(total)) {
		sums.Species = append(sums.Species, SpeciesSum{species, total[species]})
		if total[species] > most {
			most, sums.Common = total[species], species
		}
	}
	return sums, nil
}

// main is empty: the host calls the operators.
func main() {}
