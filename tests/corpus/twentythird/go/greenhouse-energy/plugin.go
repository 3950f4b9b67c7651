// The energy report of a nursery: meter readings of the greenhouses become a table by house.
package main

import (
	"encoding/json"
	"math"
	"sort"

	"latchwork"
)

type reading struct {
	House string  `json:"house"`
	KWh   float64 `json:"kwh"`
}

type readings struct {
	Readings []reading `json:"readings"`
	// Area is the heated area by house, in square metres. It is optional.
	Area map[string]float64 `json:"area,omitempty"`
}

type house struct {
	House   string   `json:"house"`
	KWh     float64  `json:"kwh"`
	PerArea *float64 `json:"kwh_per_m2"`
}

type report struct {
	Houses []house `json:"houses"`
	Total  float64 `json:"total_kwh"`
	Mean   float64 `json:"mean_kwh"`
}

const input = `{"type": "object", "required": ["readings"], "additionalProperties": false, "properties": {
	"readings": {"type": "array", "maxItems": 500, "items": {"type": "object", "required": ["house", "kwh"],
		"additionalProperties": false, "properties": {
			"house": {"type": "string", "minLength": 1, "maxLength": 40},
			"kwh": {"type": "number", "minimum": 0, "maximum": 1000000}}}},
	"area": {"type": "object", "maxProperties": 100, "additionalProperties": {"type": "number", "minimum": 1, "maximum": 100000}}}}`

func init() {
	latchwork.Step("Energy.Report", latchwork.Spec{
		Description: "Sums the energy of greenhouses by house.",
		Input:       json.RawMessage(input),
	}, sumUp)
}

func sumUp(_ latchwork.Context, in readings) (report, error) {
	byHouse := map[string]float64{}
	for _, one := range in.Readings {
		byHouse[one.House] += one.KWh
	}
	for name := range in.Area {
		if _, known := byHouse[name]; !known {
			return report{}, latchwork.Fail(latchwork.InvalidInput, "an area is given for a house without a reading")
		}
	}

	out := report{Houses: []house{}}
	for name, kwh := range byHouse {
		row := house{House: name, KWh: kwh}
		if area, known := in.Area[name]; known {
			each := math.Round(kwh/area*1000) / 1000
			row.PerArea = &each
		}
		out.Houses = append(out.Houses, row)
		out.Total += kwh
	}
	if len(out.Houses) > 0 {
		out.Mean = out.Total / float64(len(out.Houses))
	}
	// The order of a map is random, so the table is sorted by name.
	sort.Slice(out.Houses, func(i, k int) bool { return out.Houses[i].House < out.Houses[k].House })
	return out, nil
}

// main is empty: the host calls the operators.
func main() {}
