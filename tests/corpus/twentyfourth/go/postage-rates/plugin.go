package main

import (
	"slices"
	"strings"

	"latchwork"
)

type Parcel struct {
	Zone  string `json:"zone"`
	Grams int    `json:"grams"`
}

// Band is a step of the price list: parcels of at most UpTo grams cost Cents.
type Band struct {
	UpTo  int `json:"up_to"`
	Cents int `json:"cents"`
}

type Postage struct {
	Cents int `json:"cents"`
	UpTo  int `json:"up_to"`
}

func init() {
	latchwork.Tool("Postage.Rate", latchwork.Spec{
		Description: "Finds the postage of a parcel in the price list of the configuration.",
		Input: latchwork.Schema(`{"type":"object","required":["zone","grams"],"additionalProperties":false,"properties":{
			"zone":{"type":"string","minLength":1,"maxLength":40},"grams":{"type":"integer","minimum":1,"maximum":100000}}}`),
		Output: latchwork.Schema(`{"type":"object","required":["cents","up_to"],"additionalProperties":false,"properties":{
			"cents":{"type":"integer","minimum":0},"up_to":{"type":"integer","minimum":1}}}`),
		Determinism: latchwork.Pure,
	}, rate)
}

func rate(_ *latchwork.Invocation, parcel Parcel) (Postage, error) {
	rates := map[string][]Band{}
	set, err := latchwork.Config("rates", &rates)
	if err != nil {
		return Postage{}, err
	}
	if !set {
		return Postage{}, latchwork.Fail(latchwork.MissingRequiredContext, "the configuration has no rates")
	}
	bands, known := rates[parcel.Zone]
	if !known {
		zones := []string{}
		for zone := range rates {
			zones = append(zones, zone)
		}
		slices.Sort(zones)
		return Postage{}, latchwork.Fail(latchwork.InvalidInput, "no rates for zone %q: the zones are %s", parcel.Zone, strings.Join(zones, ", "))
	}
	best := -1
	for i, band := range bands {
		if band.UpTo < 1 || band.Cents < 0 || band.Cents > 1_000_000_000 || band.UpTo > 1_000_000_000 {
			return Postage{}, latchwork.Fail(latchwork.MissingRequiredContext, "rate %d of zone %q is not a price", i, parcel.Zone)
		}
		if band.UpTo >= parcel.Grams && (best < 0 || band.UpTo < bands[best].UpTo) {
			best = i
		}
	}
	if best < 0 {
		return Postage{}, latchwork.Fail(latchwork.InvalidInput, "%d g is too heavy for zone %q", parcel.Grams, parcel.Zone)
	}
	return Postage{bands[best].Cents, bands[best].UpTo}, nil
}

func main() {}
