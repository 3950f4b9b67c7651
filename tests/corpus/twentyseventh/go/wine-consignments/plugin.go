// Package main seals the packing lists of wine consignments. The seal is printed on every case of a consignment, so that
// the receiver can see that a case belongs to its list.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"latchwork"
)

type Discount struct {
	Percent int    `json:"percent"`
	Reason  string `json:"reason"`
}

type Line struct {
	Wine     string    `json:"wine"`
	Vintage  int       `json:"vintage"`
	Bottles  int       `json:"bottles"`
	Cents    int64     `json:"cents"`
	Discount *Discount `json:"discount,omitempty"`
}

type Consignment struct {
	Number   string `json:"number"`
	Receiver string `json:"receiver"`
	Lines    []Line `json:"lines"`
}

type Sealed struct {
	Number  string `json:"number"`
	Bottles int    `json:"bottles"`
	Cases   int    `json:"cases"`
	Cents   int64  `json:"cents"`
	Seal    string `json:"seal"`
}

const bottlesPerCase = 12

func init() {
	latchwork.Step("Consignment.Seal", latchwork.Spec{
		Description: "Adds up a packing list and seals it.",
	}, seal)
}

func seal(_ latchwork.Context, consignment Consignment) (Sealed, error) {
	if strings.TrimSpace(consignment.Number) == "" {
		return Sealed{}, latchwork.Fail(latchwork.InvalidInput, "the consignment has no number")
	}
	if len(consignment.Lines) == 0 {
		return Sealed{}, latchwork.Fail(latchwork.InvalidInput, "consignment %s has no lines", consignment.Number)
	}
	sealed := Sealed{Number: consignment.Number}
	for i, line := range consignment.Lines {
		if line.Bottles <= 0 || line.Cents < 0 {
			return Sealed{}, latchwork.Fail(latchwork.InvalidInput, "line %d: %d bottles at %d cents", i+1, line.Bottles, line.Cents)
		}
		price, err := line.price()
		if err != nil {
			return Sealed{}, err
		}
		sealed.Bottles += line.Bottles
		sealed.Cents += price
	}
	sealed.Cases = (sealed.Bottles + bottlesPerCase - 1) / bottlesPerCase
	sealed.Seal = sealOf(consignment)
	return sealed, nil
}

// price is the price of a line, with its discount rounded in favour of the receiver.
func (l Line) price() (int64, error) {
	full := l.Cents * int64(l.Bottles)
	if l.Discount == nil {
		return full, nil
	}
	if l.Discount.Percent < 0 || l.Discount.Percent > 100 {
		return 0, latchwork.Fail(latchwork.InvalidInput, "%s: a discount of %d percent", l.Wine, l.Discount.Percent)
	}
	return full * int64(100-l.Discount.Percent) / 100, nil
}

// sealOf covers every field of the list: the names and the values, in the order of the list.
func sealOf(consignment Consignment) string {
	sum := sha256.Sum256([]byte(fmt.Sprintf("%+v", consignment)))
	return strings.ToUpper(hex.EncodeToString(sum[:6]))
}

// main is empty: the host calls the operators.
func main() {}
