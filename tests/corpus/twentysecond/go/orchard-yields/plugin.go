package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"latchwork"
)

// Crate is a weighed crate. Sugar is missing if no sample was taken.
type Crate struct {
	Sort  string   `json:"sort"`
	Row   int      `json:"row"`
	Grams int64    `json:"grams"`
	Brix  *float64 `json:"brix,omitempty"`
}

type Harvest struct {
	Orchard string  `json:"orchard"`
	Crates  []Crate `json:"crates"`
}

// Yield is the yield of one sort. Sugar is the mean of the samples, in tenths of a degree Brix.
type Yield struct {
	Sort    string `json:"sort"`
	Crates  int    `json:"crates"`
	Grams   int64  `json:"grams"`
	Rows    []int  `json:"rows"`
	Samples int    `json:"samples"`
	Tenths  int64  `json:"brix_tenths"`
}

type Report struct {
	Orchard string  `json:"orchard"`
	Grams   int64   `json:"grams"`
	Yields  []Yield `json:"yields"`
	Mark    string  `json:"mark"`
}

func init() {
	latchwork.Step("Harvest.Report", latchwork.Spec{
		Description: "Reports the yield of each sort of an orchard.",
		Input: latchwork.Schema(`{
  "type": "object", "additionalProperties": false, "required": ["orchard", "crates"],
  "properties": {
    "orchard": {"type": "string", "maxLength": 60},
    "crates": {"type": "array", "maxItems": 2000, "items": {
      "type": "object", "additionalProperties": false, "required": ["sort", "row", "grams"],
      "properties": {
        "sort": {"type": "string", "maxLength": 40},
        "row": {"type": "integer", "minimum": 1, "maximum": 500},
        "grams": {"type": "integer", "minimum": 0, "maximum": 1000000},
        "brix": {"type": "number", "minimum": 0, "maximum": 100}}}}}}`),
	}, report)
}

func report(_ latchwork.Context, harvest Harvest) (Report, error) {
	bySort := map[string][]Crate{}
	for _, crate := range harvest.Crates {
		sort := strings.ToLower(strings.TrimSpace(crate.Sort))
		if sort == "" {
			return Report{}, latchwork.Fail(latchwork.InvalidInput, "a crate of row %d has no sort", crate.Row)
		}
		bySort[sort] = append(bySort[sort], crate)
	}
	names := slices.Sorted(maps.Keys(bySort))

	// Each goroutine has a place of its own.
	yields := make([]Yield, len(names))
	var group sync.WaitGroup
	for i, name := range names {
		group.Go(func() { yields[i] = yieldOf(name, bySort[name]) })
	}
	group.Wait()
	slices.SortFunc(yields, func(a, b Yield) int {
		return cmp.Or(cmp.Compare(b.Grams, a.Grams), strings.Compare(a.Sort, b.Sort))
	})

	made := Report{Orchard: harvest.Orchard, Yields: yields}
	for _, yield := range yields {
		made.Grams += yield.Grams
	}
	// The mark follows from the text of the yields.
	text, err := json.Marshal(yields)
	if err != nil {
		return Report{}, latchwork.Fail(latchwork.InvalidInput, "the yields are not JSON: %w", err)
	}
	sum := sha256.Sum256(text)
	made.Mark = hex.EncodeToString(sum[:8])
	return made, nil
}

// yieldOf adds the crates of a sort in the order of the input.
func yieldOf(name string, crates []Crate) Yield {
	made := Yield{Sort: name, Crates: len(crates), Rows: []int{}}
	var tenths int64
	for _, crate := range crates {
		made.Grams += crate.Grams
		made.Rows = append(made.Rows, crate.Row)
		if crate.Brix != nil {
			made.Samples++
			tenths += int64(*crate.Brix*10 + 0.5)
		}
	}
	slices.Sort(made.Rows)
	made.Rows = slices.Compact(made.Rows)
	if made.Samples > 0 {
		made.Tenths = tenths / int64(made.Samples)
	}
	return made
}

func main() {}
