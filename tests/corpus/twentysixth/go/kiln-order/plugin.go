// Package main books firings at a shared kiln. A booking has a reference that follows from the wish of the potter.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"latchwork"
)

type Wish struct {
	Studio string `json:"studio"`
	Glaze  string `json:"glaze"`
	Pieces int    `json:"pieces"`
	// Cone is the firing temperature. Without it the kiln is fired as usual.
	Cone *int `json:"cone,omitempty"`
}

type Booking struct {
	Reference string `json:"reference"`
	Wish
}

type Slot struct {
	Day string `json:"day"`
}

type Booked struct {
	Reference string `json:"reference"`
	Day       string `json:"day"`
}

func init() {
	latchwork.Step("Kiln.Order", latchwork.Spec{
		Description: "Books a firing of the shared kiln.",
		Effects:     []latchwork.Effect{latchwork.ExternalWrite},
		Determinism: latchwork.External,
	}, order)
}

func order(_ latchwork.Context, wish Wish) (Booked, error) {
	if wish.Studio == "" || wish.Glaze == "" {
		return Booked{}, latchwork.Fail(latchwork.InvalidInput, "studio and glaze are needed")
	}
	if wish.Pieces < 1 || wish.Pieces > 400 {
		return Booked{}, latchwork.Fail(latchwork.InvalidInput, "the kiln holds 1 to 400 pieces")
	}
	if wish.Cone != nil && (*wish.Cone < 1 || *wish.Cone > 13) {
		return Booked{}, latchwork.Fail(latchwork.InvalidInput, "the cone is 1 to 13")
	}
	// Every field counts, so that two different wishes never share a reference.
	sum := sha256.Sum256(fmt.Appendf(nil, "%+v", wish))
	reference := "kiln-" + hex.EncodeToString(sum[:8])
	slot, err := latchwork.Call[Slot]("Kiln.Book", Booking{reference, wish}, reference)
	if err != nil {
		return Booked{}, err
	}
	return Booked{reference, slot.Day}, nil
}

func main() {}
