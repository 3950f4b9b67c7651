// Command postage-zones computes the postage of a parcel from the zones in the configuration of the shop.
package main

import (
	"slices"
	"strings"

	"latchwork"
)

type Parcel struct {
	Country string `json:"country"`
	Grams   int    `json:"grams"`
	Insured bool   `json:"insured"`
}

type Postage struct {
	Zone  string `json:"zone"`
	Cents int    `json:"cents"`
}

// Zone is a group of countries with equal postage.
type Zone struct {
	Name       string   `json:"name"`
	Countries  []string `json:"countries"`
	BaseCents  int      `json:"base_cents"`
	CentsPerKg int      `json:"cents_per_kg"`
	MostGrams  int      `json:"most_grams"`
}

func init() {
	latchwork.Tool("Postage.Quote", latchwork.Spec{
		Description: "Computes the postage of a parcel.",
		Effects:     []latchwork.Effect{latchwork.ReadOnly},
		Determinism: latchwork.Pure,
	}, quote)
}

// zoneOf returns the first zone that has the country.
func zoneOf(zones []Zone, country string) (Zone, bool) {
	for _, zone := range zones {
		if slices.Contains(zone.Countries, country) {
			return zone, true
		}
	}
	return Zone{}, false
}

func quote(_ *latchwork.Invocation, parcel Parcel) (Postage, error) {
	if parcel.Grams < 1 || parcel.Grams > 100000 {
		return Postage{}, latchwork.Fail(latchwork.InvalidInput, "a parcel cannot weigh %d grams", parcel.Grams)
	}
	country := strings.ToUpper(strings.TrimSpace(parcel.Country))
	if len(country) != 2 {
		return Postage{}, latchwork.Fail(latchwork.InvalidInput, "%q is no code of a country", parcel.Country)
	}
	var zones []Zone
	set, err := latchwork.Config("zones", &zones)
	if err != nil {
		return Postage{}, err
	}
	if !set {
		return Postage{}, latchwork.Fail(latchwork.MissingRequiredContext, "the configuration has no zones")
	}
	insurance := 250
	if _, err := latchwork.Config("insurance_cents", &insurance); err != nil {
		return Postage{}, err
	}

	zone, known := zoneOf(zones, country)
	if !known {
		return Postage{}, latchwork.Fail(latchwork.InvalidInput, "no zone has the country %s", country)
	}
	if zone.MostGrams > 0 && parcel.Grams > zone.MostGrams {
		return Postage{}, latchwork.Fail(latchwork.PolicyDenied, "%s takes parcels up to %d grams", zone.Name, zone.MostGrams)
	}
	kilos := (parcel.Grams + 999) / 1000
	cents := zone.BaseCents + kilos*zone.CentsPerKg
	if parcel.Insured {
		cents += insurance
	}
	return Postage{zone.Name, cents}, nil
}

// main is empty: the host calls the operators.
func main() {}
