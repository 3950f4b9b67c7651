package main

import (
	"sort"
	"strings"

	"latchwork"
)

// Sale is one receipt of a market day.
type Sale struct {
	Stall string `json:"stall"`
	Cents int64  `json:"cents"`
	Void  bool   `json:"void,omitempty"`
}

type Day struct {
	Market string `json:"market"`
	Sales  []Sale `json:"sales"`
}

// Takings are the takings of one stall, and the fee of the market.
type Takings struct {
	Stall    string `json:"stall"`
	Receipts int    `json:"receipts"`
	Cents    int64  `json:"cents"`
	Fee      int64  `json:"fee"`
}

type Report struct {
	Market  string    `json:"market"`
	Cents   int64     `json:"cents"`
	Best    []Takings `json:"best"`
	Without int       `json:"without_sales"`
}

// shown is the number of stalls in the report of a day.
const shown = 10

var input = latchwork.Schema(`{
  "type": "object", "additionalProperties": false, "required": ["market", "sales"],
  "properties": {
    "market": {"type": "string", "minLength": 1, "maxLength": 60},
    "sales": {"type": "array", "maxItems": 5000, "items": {
      "type": "object", "additionalProperties": false, "required": ["stall", "cents"],
      "properties": {
        "stall": {"type": "string", "minLength": 1, "maxLength": 40},
        "cents": {"type": "integer", "minimum": 0, "maximum": 10000000},
        "void": {"type": "boolean"}}}}}}`)

func init() {
	latchwork.Step("MarketDay.Report", latchwork.Spec{
		Description: "Reports the stalls with the highest takings of a market day.",
		Input:       input,
	}, report)
}

func report(_ latchwork.Context, day Day) (Report, error) {
	sums := map[string]*Takings{}
	made := Report{Market: day.Market, Best: []Takings{}}
	for _, sale := range day.Sales {
		stall := strings.ToUpper(strings.TrimSpace(sale.Stall))
		if stall == "" {
			return Report{}, latchwork.Fail(latchwork.InvalidInput, "a sale has no stall")
		}
		sum := sums[stall]
		if sum == nil {
			sum = &Takings{Stall: stall}
			sums[stall] = sum
		}
		if sale.Void {
			continue
		}
		sum.Receipts++
		sum.Cents += sale.Cents
		made.Cents += sale.Cents
	}
	for _, sum := range sums {
		if sum.Receipts == 0 {
			made.Without++
			continue
		}
		// The fee is 4 percent, and at least 12.00 and at most 90.00.
		sum.Fee = min(max(sum.Cents*4/100, 1200), 9000)
		made.Best = append(made.Best, *sum)
	}
	sort.Slice(made.Best, func(i, j int) bool { return made.Best[i].Cents > made.Best[j].Cents })
	if len(made.Best) > shown {
		made.Best = made.Best[:shown]
	}
	return made, nil
}

func main() {}
