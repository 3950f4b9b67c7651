// Command postage-bands computes the postage of a parcel from the tariff in the configuration.
package main

import (
	"cmp"
	"slices"
	"strings"

	"latchwork"
)

type Band struct {
	Grams int `json:"grams"`
	Cents int `json:"cents"`
}

type Parcel struct {
	Grams int    `json:"grams"`
	Zone  string `json:"zone"`
	// Extras are services such as a signature, by their names in the tariff.
	Extras []string `json:"extras,omitempty"`
}

type Item struct {
	Name  string `json:"name"`
	Cents int    `json:"cents"`
}

type Postage struct {
	Items []Item `json:"items"`
	Cents int    `json:"cents"`
}

func init() {
	latchwork.Tool("Postage.Quote", latchwork.Spec{
		Description: "Computes the postage of a parcel.",
		Effects:     []latchwork.Effect{latchwork.ReadOnly},
		Determinism: latchwork.Pure,
	}, quote)
}

// read reads a key of the tariff.
func read(key string, into any) error {
	found, err := latchwork.Config(key, into)
	if err == nil && !found {
		err = latchwork.Fail(latchwork.MissingRequiredContext, "the tariff has no %s", key)
	}
	return err
}

// names returns the names of a table, for people.
func names(table map[string]int) string {
	var all []string
	for name := range table {
		all = append(all, name)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func quote(_ *latchwork.Invocation, parcel Parcel) (Postage, error) {
	var bands []Band
	percent, extras := map[string]int{}, map[string]int{}
	for key, into := range map[string]any{"bands": &bands, "zones": &percent, "extras": &extras} {
		if err := read(key, into); err != nil {
			return Postage{}, latchwork.Fail(latchwork.MissingRequiredContext, "the tariff is not complete")
		}
	}
	if parcel.Grams < 1 {
		return Postage{}, latchwork.Fail(latchwork.InvalidInput, "a parcel weighs more than nothing")
	}
	share, known := percent[parcel.Zone]
	if !known {
		return Postage{}, latchwork.Fail(latchwork.InvalidInput, "%q is none of the zones %s", parcel.Zone, names(percent))
	}
	slices.SortStableFunc(bands, func(a, b Band) int { return cmp.Compare(a.Grams, b.Grams) })
	place := slices.IndexFunc(bands, func(band Band) bool { return parcel.Grams <= band.Grams })
	if place < 0 {
		return Postage{}, latchwork.Fail(latchwork.InvalidInput, "%d g is too heavy for a parcel", parcel.Grams)
	}
	made := Postage{Items: []Item{{"parcel to zone " + parcel.Zone, (bands[place].Cents*share + 99) / 100}}}
	chosen := map[string]bool{}
	for _, name := range parcel.Extras {
		if _, known := extras[name]; !known {
			return Postage{}, latchwork.Fail(latchwork.InvalidInput, "%q is none of the extras %s", name, names(extras))
		}
		chosen[name] = true
	}
	for name := range chosen {
		made.Items = append(made.Items, Item{name, extras[name]})
	}
	slices.SortFunc(made.Items[1:], func(a, b Item) int { return cmp.Compare(a.Name, b.Name) })
	for _, item := range made.Items {
		made.Cents += item.Cents
	}
	return made, nil
}

// main is empty: the host calls the operators.
func main() {}
