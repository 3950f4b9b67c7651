// Sums the fares of a day: one sum for each zone, and the sum of all zones.
package main

import "latchwork"

type Ride struct {
	Zone string  `json:"zone"`
	Fare float64 `json:"fare"`
}

type Day struct {
	Rides []Ride `json:"rides"`
}

type Totals struct {
	Zones map[string]float64 `json:"zones"`
	Total float64            `json:"total"`
}

func init() {
	latchwork.Step("Fare.Totals", latchwork.Spec{Description: "Sums the fares of a day by zone."}, totals)
}

func totals(_ latchwork.Context, day Day) (Totals, error) {
	zones := map[string]float64{}
	for i, ride := range day.Rides {
		if ride.Zone == "" {
			return Totals{}, latchwork.Fail(latchwork.InvalidInput, "ride %d has no zone", i)
		}
		zones[ride.Zone] += ride.Fare
	}
	total := 0.0
	for _, sum := range zones {
		total += sum
	}
	return Totals{zones, total}, nil
}

// main is empty: the host calls the operators.
func main() {}
