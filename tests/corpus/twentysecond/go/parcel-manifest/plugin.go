package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sort"

	"latchwork"
)

// Parcel is one parcel of a van. Its weight is missing if the shop has no scales.
type Parcel struct {
	Code  string `json:"code"`
	Zone  int    `json:"zone"`
	Grams *int64 `json:"grams,omitempty"`
	Frail bool   `json:"frail,omitempty"`
}

type Van struct {
	Van     string   `json:"van"`
	Parcels []Parcel `json:"parcels"`
}

type Zone struct {
	Zone    int      `json:"zone"`
	Codes   []string `json:"codes"`
	Grams   int64    `json:"grams"`
	Unknown int      `json:"unweighed"`
}

// Manifest has the zones in the order of the tour. Its mark lets the depot find out whether a list was changed.
type Manifest struct {
	Van   string `json:"van"`
	Zones []Zone `json:"zones"`
	Frail int    `json:"frail"`
	Mark  string `json:"mark"`
}

const mostGrams = 900_000

func init() {
	latchwork.Step("VanManifest.Make", latchwork.Spec{
		Description: "Makes the manifest of a van, with the parcels in the order of the tour.",
		Input: latchwork.Schema(`{
  "type": "object", "additionalProperties": false, "required": ["van", "parcels"],
  "properties": {
    "van": {"type": "string", "pattern": "^[A-Z0-9-]{1,12}$"},
    "parcels": {"type": "array", "maxItems": 400, "items": {
      "type": "object", "additionalProperties": false, "required": ["code", "zone"],
      "properties": {
        "code": {"type": "string", "minLength": 1, "maxLength": 30},
        "zone": {"type": "integer", "minimum": 1, "maximum": 40},
        "grams": {"type": "integer", "minimum": 1, "maximum": 40000},
        "frail": {"type": "boolean"}}}}}}`),
	}, manifest)
}

func manifest(_ latchwork.Context, van Van) (Manifest, error) {
	parcels := van.Parcels
	sort.SliceStable(parcels, func(i, j int) bool {
		if parcels[i].Zone != parcels[j].Zone {
			return parcels[i].Zone < parcels[j].Zone
		}
		return parcels[i].Code < parcels[j].Code
	})

	made := Manifest{Van: van.Van, Zones: []Zone{}}
	mark := sha256.New()
	var total int64
	for i, parcel := range parcels {
		if i > 0 && parcels[i-1].Code == parcel.Code && parcels[i-1].Zone == parcel.Zone {
			return Manifest{}, latchwork.Fail(latchwork.InvalidInput, "parcel %s is listed twice", parcel.Code)
		}
		if i == 0 || parcels[i-1].Zone != parcel.Zone {
			made.Zones = append(made.Zones, Zone{Zone: parcel.Zone})
		}
		zone := &made.Zones[len(made.Zones)-1]
		zone.Codes = append(zone.Codes, parcel.Code)
		if parcel.Grams == nil {
			zone.Unknown++
		} else {
			zone.Grams += *parcel.Grams
			total += *parcel.Grams
		}
		if parcel.Frail {
			made.Frail++
		}
		fmt.Fprintf(mark, "%d %+v\n", i, parcel)
	}
	if total > mostGrams {
		return Manifest{}, latchwork.Fail(latchwork.InvalidInput, "the van carries %d g, %d g are allowed", total, mostGrams)
	}
	made.Mark = hex.EncodeToString(mark.Sum(nil)[:8])
	return made, nil
}

func main() {}
