package main

import (
	"math"

	"latchwork"
)

const (
	maxWheels = 12
	maxPins   = 36
)

type Machine struct {
	Name string `json:"name"`
	// Wheels has the number of positions of each wheel.
	Wheels []int `json:"wheels"`
	// Slots is the number of wheels that are in the machine at the same time.
	Slots        int `json:"slots"`
	TestsPerHour int `json:"tests_per_hour"`
}

type Keyspace struct {
	Name      string  `json:"name"`
	Orders    uint64  `json:"orders"`
	Positions uint64  `json:"positions"`
	Bits      float64 `json:"bits"`
	Years     float64 `json:"years"`
}

func init() {
	latchwork.Step("Rotor.Keyspace", latchwork.Spec{
		Description: "Counts the start positions of a cipher machine of a museum.",
	}, count)
}

// orders returns the number of ways to put some of the wheels into the slots.
func orders(wheels, slots int) uint64 {
	product := uint64(1)
	for i := range slots {
		product *= uint64(wheels - i)
	}
	return product
}

func count(_ latchwork.Context, machine Machine) (Keyspace, error) {
	if len(machine.Wheels) == 0 || len(machine.Wheels) > maxWheels {
		return Keyspace{}, latchwork.Fail(latchwork.InvalidInput, "a machine has 1 to %d wheels", maxWheels)
	}
	if machine.Slots < 1 || machine.Slots > len(machine.Wheels) {
		return Keyspace{}, latchwork.Fail(latchwork.InvalidInput, "%d wheels do not fill %d slots", len(machine.Wheels), machine.Slots)
	}
	if machine.TestsPerHour < 1 {
		return Keyspace{}, latchwork.Fail(latchwork.InvalidInput, "tests_per_hour has to be positive")
	}

	// The product of all wheels is at most 36 to the power of 12, and fits into 64 bits.
	positions := uint64(1)
	for i, pins := range machine.Wheels {
		if pins < 2 || pins > maxPins {
			return Keyspace{}, latchwork.Fail(latchwork.InvalidInput, "wheel %d has %d positions", i+1, pins)
		}
		if i < machine.Slots {
			positions *= uint64(pins)
		}
	}

	made := Keyspace{Name: machine.Name, Orders: orders(len(machine.Wheels), machine.Slots), Positions: positions}
	keys := float64(made.Orders) * float64(positions)
	made.Bits = math.Round(math.Log2(keys)*100) / 100
	made.Years = math.Round(keys/float64(machine.TestsPerHour)/8766*1000) / 1000
	return made, nil
}

// main is empty: the host calls the operators.
func main() {}
