package main

import (
	"strings"
	"sync"

	"latchwork"
)

type Reading struct {
	Device string `json:"device"`
	Ward   string `json:"ward"`
}

type Readings struct {
	Readings []Reading `json:"readings"`
}

type Device struct {
	Device string `json:"device"`
	Ward   string `json:"ward"`
}

type Roster struct {
	Devices []Device `json:"devices"`
}

func init() {
	latchwork.Step("Device.Roster", latchwork.Spec{
		Description: "Lists each device of some readings with the ward in which it was seen last.",
		Determinism: latchwork.Pure,
	}, roster)
}

func roster(_ latchwork.Context, readings Readings) (Roster, error) {
	var seen sync.Map
	for i, reading := range readings.Readings {
		device := strings.ToUpper(strings.TrimSpace(reading.Device))
		if device == "" {
			return Roster{}, latchwork.Fail(latchwork.InvalidInput, "reading %d has no device", i)
		}
		seen.Store(device, reading.Ward)
	}
	devices := []Device{}
	seen.Range(func(device, ward any) bool {
		devices = append(devices, Device{device.(string), ward.(string)})
		return true
	})
	return Roster{devices}, nil
}

// main is empty: the host calls the operators.
func main() {}
