package main

import (
	"log/slog"

	"latchwork"
)

type Shipment struct {
	Carriers []string `json:"carriers"`
	Grams    int      `json:"grams"`
}

type Question struct {
	Carrier string `json:"carrier"`
	Grams   int    `json:"grams"`
}

type Offer struct {
	Carrier string `json:"carrier"`
	Cents   int    `json:"cents"`
}

type Best struct {
	Offer  Offer `json:"offer"`
	Offers int   `json:"offers"`
}

func init() {
	latchwork.Step("Shipment.Offer", latchwork.Spec{
		Description: "Asks carriers for offers and returns the cheapest one.",
		Determinism: latchwork.External,
	}, best)
}

// ask sends the offer of each carrier to the channel.
func ask(shipment Shipment, offers chan<- Offer) {
	for _, carrier := range shipment.Carriers {
		offer, err := latchwork.Call[Offer]("Carrier.Offer", Question{carrier, shipment.Grams})
		if err != nil {
			slog.Warn("no offer", "carrier", carrier, "error", err)
			return
		}
		offers <- offer
	}
	close(offers)
}

func best(_ latchwork.Context, shipment Shipment) (Best, error) {
	if len(shipment.Carriers) == 0 {
		return Best{}, latchwork.Fail(latchwork.InvalidInput, "there are no carriers")
	}
	offers := make(chan Offer)
	go ask(shipment, offers)
	var found Best
	for offer := range offers {
		if found.Offers == 0 || offer.Cents < found.Offer.Cents {
			found.Offer = offer
		}
		found.Offers++
	}
	if found.Offers == 0 {
		return Best{}, latchwork.Fail(latchwork.DependencyUnavailable, "no carrier made an offer")
	}
	return found, nil
}

// main is empty: the host calls the operators.
func main() {}
