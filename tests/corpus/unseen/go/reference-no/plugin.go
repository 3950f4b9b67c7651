package main

import (
	"strings"
	"unicode"

	"latchwork"
)

type Order struct {
	Order string `json:"order"`
}

type Reference struct {
	Reference string `json:"reference"`
}

func init() {
	latchwork.Step("Order.Reference", latchwork.Spec{
		Description: "Makes the reference number of an order.",
		Determinism: latchwork.Pure,
	}, reference)
}

// plain keeps letters and digits.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToUpper(r)
		}
		return -1
	}, text)
}

func reference(ctx latchwork.Context, order Order) (Reference, error) {
	id := plain(order.Order)
	if id == "" {
		return Reference{}, latchwork.Fail(latchwork.InvalidInput, "the order has no number")
	}
	return Reference{"RF-" + plain(ctx.StepID) + "-" + id}, nil
}

// main is empty: the host calls the operators.
func main() {}
