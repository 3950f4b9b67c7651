package main

import (
	"crypto/sha256"
	"fmt"

	"latchwork"
)

type Line struct {
	Item  string `json:"item"`
	Count int    `json:"count"`
}

type Discount struct {
	Code    string `json:"code"`
	Percent int    `json:"percent"`
}

type Order struct {
	ID       string    `json:"id"`
	Lines    []Line    `json:"lines"`
	Discount *Discount `json:"discount,omitempty"`
}

type Tagged struct {
	ID   string `json:"id"`
	Etag string `json:"etag"`
}

func init() {
	latchwork.Step("Order.Etag", latchwork.Spec{
		Description: "Computes an entity tag of an order.",
		Determinism: latchwork.Pure,
	}, etag)
}

func etag(_ latchwork.Context, order Order) (Tagged, error) {
	if len(order.Lines) == 0 {
		return Tagged{}, latchwork.Fail(latchwork.InvalidInput, "order %s is empty", order.ID)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%+v", order))
	return Tagged{order.ID, fmt.Sprintf("%x", sum[:8])}, nil
}

// main is empty: the host calls the operators.
func main() {}
