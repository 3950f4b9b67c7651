package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"latchwork"
)

type Series struct {
	Rows   int     `json:"rows"`
	Start  float64 `json:"start"`
	Factor float64 `json:"factor"`
}

type Row struct {
	Key   string  `json:"key"`
	Value float64 `json:"value"`
	Text  string  `json:"text"`
}

type Table struct {
	Rows   []Row          `json:"rows"`
	Digits map[string]int `json:"digits"`
}

func init() {
	latchwork.Step("Series.Tabulate", latchwork.Spec{
		Description: "Tabulates a geometric series.",
		Determinism: latchwork.Pure,
	}, tabulate)
}

func tabulate(_ latchwork.Context, series Series) (Table, error) {
	if series.Rows < 0 || series.Rows > 5000 {
		return Table{}, latchwork.Fail(latchwork.InvalidInput, "at most 5000 rows are possible")
	}
	values := map[string]float64{}
	value := series.Start
	for i := range series.Rows {
		if math.IsNaN(value) || math.Abs(value) >= 1<<53 {
			return Table{}, latchwork.Fail(latchwork.InvalidInput, "the series grows beyond 2^53")
		}
		values[fmt.Sprintf("row-%05d", i)] = value
		value *= series.Factor
	}
	table := Table{Rows: []Row{}, Digits: map[string]int{}}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		value := values[key]
		text := strconv.FormatFloat(math.Sqrt(value), 'e', 9, 64)
		table.Rows = append(table.Rows, Row{key, value, text})
		table.Digits[text[:1]]++
	}
	return table, nil
}

// main is empty: the host calls the operators.
func main() {}
