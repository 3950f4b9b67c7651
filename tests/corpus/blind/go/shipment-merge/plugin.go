package main

import (
	"latchwork"
)

type Day struct {
	North []string `json:"north"`
	South []string `json:"south"`
}

type Loading struct {
	Order []string `json:"order"`
	Ramps int      `json:"ramps"`
}

func init() {
	latchwork.Step("ShipmentMerge.Load", latchwork.Spec{Description: "Merges the shipments of two depots into one order of loading."}, load)
}

func feed(shipments []string) <-chan string {
	out := make(chan string, len(shipments))
	for _, shipment := range shipments {
		out <- shipment
	}
	close(out)
	return out
}

func load(_ latchwork.Context, day Day) (Loading, error) {
	north, south := feed(day.North), feed(day.South)
	made := Loading{Order: []string{}, Ramps: 1}
	if len(day.North)+len(day.South) > 6 {
		made.Ramps = 2
	}
	for north != nil || south != nil {
		select {
		case shipment, more := <-north:
			if !more {
				north = nil
				continue
			}
			made.Order = append(made.Order, shipment)
		case shipment, more := <-south:
			if !more {
				south = nil
				continue
			}
			made.Order = append(made.Order, shipment)
		}
	}
	return made, nil
}

// main is empty: the host calls the operators.
func main() {}
