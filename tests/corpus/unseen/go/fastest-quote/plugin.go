package main

import (
	"hash/crc32"
	"sync"

	"latchwork"
)

type Parcel struct {
	Grams int    `json:"grams"`
	Road  string `json:"road"`
	Rail  string `json:"rail"`
}

type Quote struct {
	Carrier string `json:"carrier"`
	Cents   int    `json:"cents"`
}

func init() {
	latchwork.Step("Quote.Choose", latchwork.Spec{
		Description: "Takes the first quote for a parcel, by road or by rail.",
		Determinism: latchwork.Pure,
	}, choose)
}

// price computes the price of a carrier from its tariff.
func price(carrier string, grams int) int {
	base := 300 + int(crc32.ChecksumIEEE([]byte(carrier))%200)
	return base + grams/10
}

func choose(_ latchwork.Context, parcel Parcel) (Quote, error) {
	if parcel.Grams <= 0 {
		return Quote{}, latchwork.Fail(latchwork.InvalidInput, "the parcel weighs nothing")
	}
	var group sync.WaitGroup
	ask := func(carrier string) <-chan Quote {
		answer := make(chan Quote, 1)
		group.Go(func() { answer <- Quote{carrier, price(carrier, parcel.Grams)} })
		return answer
	}
	road, rail := ask(parcel.Road), ask(parcel.Rail)
	group.Wait()
	select {
	case quote := <-road:
		return quote, nil
	case quote := <-rail:
		return quote, nil
	}
}

// main is empty: the host calls the operators.
func main() {}
