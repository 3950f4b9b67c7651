package main

import (
	"unicode/utf8"

	"latchwork"
)

type Text struct {
	Text string `json:"text"`
}

type Checksum struct {
	Checksum   uint64 `json:"checksum"`
	Characters int    `json:"characters"`
}

func init() {
	latchwork.Step("Text.Checksum", latchwork.Spec{
		Description: "Computes a checksum of a text.",
		Determinism: latchwork.Pure,
	}, checksum)
}

func checksum(_ latchwork.Context, text Text) (Checksum, error) {
	var sum uint64
	for _, b := range []byte(text.Text) {
		sum = sum*31 + uint64(b)
	}
	return Checksum{sum, utf8.RuneCountInString(text.Text)}, nil
}

// main is empty: the host calls the operators.
func main() {}
