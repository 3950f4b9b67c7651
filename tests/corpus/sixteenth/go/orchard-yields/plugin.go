// Command orchard-yields sums up the harvest of an orchard by variety.
package main

import (
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"latchwork"
)

// Number of goroutines that share the rows.
const workers = 4

type Row struct {
	Row     int       `json:"row"`
	Variety string    `json:"variety"`
	Baskets []float64 `json:"baskets"`
}

type Harvest struct {
	Rows []Row `json:"rows"`
}

type Yield struct {
	Variety string  `json:"variety"`
	Rows    int     `json:"rows"`
	Kilos   float64 `json:"kilos"`
	Best    int     `json:"best"`
}

type Yields struct {
	Yields []Yield `json:"yields"`
	Kilos  float64 `json:"kilos"`
}

func init() {
	latchwork.Step("Orchard.Yields", latchwork.Spec{
		Description: "Sums up the baskets of a harvest by variety, and names the best row of each.",
	}, yields)
}

func yields(_ latchwork.Context, harvest Harvest) (Yields, error) {
	weights := make([]float64, len(harvest.Rows))
	problems := make([]error, len(harvest.Rows))
	var group sync.WaitGroup
	for worker := range workers {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := worker; i < len(harvest.Rows); i += workers {
				weights[i], problems[i] = weigh(harvest.Rows[i])
			}
		}()
	}
	group.Wait()
	for _, problem := range problems {
		if problem != nil {
			return Yields{}, problem
		}
	}

	sums, most := map[string]*Yield{}, map[string]float64{}
	total := 0.0
	for i, row := range harvest.Rows {
		name := strings.ToLower(strings.TrimSpace(row.Variety))
		if sums[name] == nil {
			sums[name] = &Yield{Variety: name, Best: row.Row}
		}
		sum := sums[name]
		sum.Rows++
		sum.Kilos += weights[i]
		total += weights[i]
		if weights[i] > most[name] {
			sum.Best, most[name] = row.Row, weights[i]
		}
	}
	made := Yields{Yields: []Yield{}, Kilos: grams(total)}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		sum := *sums[name]
		sum.Kilos = grams(sum.Kilos)
		made.Yields = append(made.Yields, sum)
	}
	return made, nil
}

// weigh adds up the baskets of a row.
func weigh(row Row) (float64, error) {
	if strings.TrimSpace(row.Variety) == "" {
		return 0, latchwork.Fail(latchwork.InvalidInput, "row %d has no variety", row.Row)
	}
	sum := 0.0
	for _, kilos := range row.Baskets {
		if kilos < 0 || kilos > 1000 {
			return 0, latchwork.Fail(latchwork.InvalidInput, "a basket of row %d has %g kg", row.Row, kilos)
		}
		sum += kilos
	}
	return sum, nil
}

// grams rounds kilograms to whole grams.
func grams(kilos float64) float64 { return math.Round(kilos*1000) / 1000 }

// main is empty: the host calls the operators.
func main() {}
