package main

import (
	"latchwork"
)

type Reading struct {
	Meter string  `json:"meter"`
	Used  float64 `json:"used"`
}

type Bill struct {
	Tariff   float64   `json:"tariff"`
	Readings []Reading `json:"readings"`
}

type Total struct {
	Meters int     `json:"meters"`
	Used   float64 `json:"used"`
	Due    float64 `json:"due"`
}

func init() {
	latchwork.Step("TariffTotal.Add", latchwork.Spec{Description: "Adds up what the meters of a building used."}, add)
}

func add(_ latchwork.Context, bill Bill) (Total, error) {
	if bill.Tariff <= 0 {
		return Total{}, latchwork.Fail(latchwork.InvalidInput, "the tariff is not positive")
	}
	// A meter that was read twice counts once, with its last reading.
	last := map[string]float64{}
	for _, reading := range bill.Readings {
		if reading.Used < 0 {
			return Total{}, latchwork.Fail(latchwork.InvalidInput, "meter %s runs backwards", reading.Meter)
		}
		last[reading.Meter] = reading.Used
	}
	used := 0.0
	for _, one := range last {
		used += one
	}
	return Total{Meters: len(last), Used: used, Due: used * bill.Tariff}, nil
}

// main is empty: the host calls the operators.
func main() {}
