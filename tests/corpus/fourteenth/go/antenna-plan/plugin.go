// Command antenna-plan checks the frequencies of radio stations and lists pairs that would disturb each other.
package main

import (
	"maps"
	"slices"

	"latchwork"
)

// The band in kilohertz, and the least distance of two stations.
const (
	lowest   = 144_000
	highest  = 146_000
	distance = 25
)

// Request has the frequency of each station in kilohertz, by call sign.
type Request struct {
	Stations map[string]int `json:"stations"`
}

type Pair struct {
	First  string `json:"first"`
	Second string `json:"second"`
	Apart  int    `json:"apart_khz"`
}

type Plan struct {
	Order    []string `json:"order"`
	Conflict []Pair   `json:"conflicts"`
	Free     int      `json:"free_channels"`
}

func init() {
	latchwork.Step("Antenna.Plan", latchwork.Spec{Description: "Checks the frequencies of radio stations."}, plan)
}

func plan(_ latchwork.Context, request Request) (Plan, error) {
	if len(request.Stations) == 0 {
		return Plan{}, latchwork.Fail(latchwork.InvalidInput, "there are no stations")
	}
	for sign, khz := range request.Stations {
		if sign == "" {
			return Plan{}, latchwork.Fail(latchwork.InvalidInput, "a station has no call sign")
		}
		if khz < lowest || khz > highest {
			return Plan{}, latchwork.Fail(latchwork.InvalidInput, "station %s: %d kHz is outside of the band", sign, khz)
		}
	}

	// The order of a map is random, so the stations are sorted by frequency and by call sign.
	signs := slices.Sorted(maps.Keys(request.Stations))
	slices.SortStableFunc(signs, func(a, b string) int { return request.Stations[a] - request.Stations[b] })

	result := Plan{Order: signs, Conflict: []Pair{}}
	used := map[int]bool{}
	for i, sign := range signs {
		used[(request.Stations[sign]-lowest)/distance] = true
		if i == 0 {
			continue
		}
		before := signs[i-1]
		if apart := request.Stations[sign] - request.Stations[before]; apart < distance {
			result.Conflict = append(result.Conflict, Pair{before, sign, apart})
		}
	}
	result.Free = (highest-lowest)/distance + 1 - len(used)
	return result, nil
}

// main is empty: the host calls the operators.
func main() {}
