package main

import (
	"sort"

	"latchwork"
)

type Load struct {
	Silo   string  `json:"silo"`
	Tonnes float64 `json:"tonnes"`
}

type Day struct {
	Loads []Load `json:"loads"`
}

type Share struct {
	Silo   string  `json:"silo"`
	Tonnes float64 `json:"tonnes"`
}

type Blend struct {
	Total  float64 `json:"total"`
	Shares []Share `json:"shares"`
}

func init() {
	latchwork.Step("Blend.Weigh", latchwork.Spec{
		Description: "Adds up the loads of a mixing day, in total and for each silo.",
		Input: latchwork.Schema(`{"type":"object","required":["loads"],"additionalProperties":false,"properties":{
			"loads":{"type":"array","minItems":1,"maxItems":1000,"items":{"type":"object","required":["silo","tonnes"],"additionalProperties":false,"properties":{
				"silo":{"type":"string","minLength":1,"maxLength":40},"tonnes":{"type":"number","minimum":0,"maximum":10000}}}}}}`),
		Output: latchwork.Schema(`{"type":"object","required":["total","shares"],"additionalProperties":false,"properties":{
			"total":{"type":"number"},"shares":{"type":"array","items":{"type":"object","required":["silo","tonnes"],"additionalProperties":false,"properties":{
				"silo":{"type":"string"},"tonnes":{"type":"number"}}}}}}`),
	}, weigh)
}

func weigh(_ latchwork.Context, day Day) (Blend, error) {
	silos := map[string]float64{}
	for _, load := range day.Loads {
		if load.Tonnes == 0 {
			return Blend{}, latchwork.Fail(latchwork.InvalidInput, "a load of silo %s is empty", load.Silo)
		}
		silos[load.Silo] += load.Tonnes
	}
	blend := Blend{Shares: []Share{}}
	for silo, tonnes := range silos {
		blend.Total += tonnes
		blend.Shares = append(blend.Shares, Share{silo, tonnes})
	}
	sort.Slice(blend.Shares, func(i, k int) bool { return blend.Shares[i].Silo < blend.Shares[k].Silo })
	return blend, nil
}

func main() {}
