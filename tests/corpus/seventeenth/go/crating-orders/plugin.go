// Command crating-orders prepares the crates of a removal firm and leaves out orders that were sent twice.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"latchwork"
)

type Order struct {
	Customer string `json:"customer"`
	Object   string `json:"object"`
	WidthCM  int    `json:"width_cm"`
	HeightCM int    `json:"height_cm"`
	DepthCM  int    `json:"depth_cm"`
	// Insured is the insured value in euros. It is left out if the customer wants no insurance.
	Insured *int `json:"insured,omitempty"`
}

type Input struct {
	Orders []Order `json:"orders"`
}

type Crate struct {
	Ref    string `json:"ref"`
	Object string `json:"object"`
	Litres int    `json:"litres"`
	Foam   bool   `json:"foam"`
}

type Plan struct {
	Crates   []Crate `json:"crates"`
	Repeated int     `json:"repeated"`
	Litres   int     `json:"litres"`
}

func init() {
	latchwork.Step("Crate.Plan", latchwork.Spec{
		Description: "Prepares the crates for a list of orders. Equal orders get one crate.",
	}, plan)
}

// ref returns a short name of an order that follows from everything the order says.
func ref(order Order) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%+v", order))
	return "CR-" + hex.EncodeToString(sum[:5])
}

// padded returns the outer size of a crate, in centimetres, for an inner size.
func padded(inner int) int { return inner + 2*(5+inner/20) }

func plan(_ latchwork.Context, in Input) (Plan, error) {
	made := Plan{Crates: []Crate{}}
	seen := map[string]bool{}
	for i, order := range in.Orders {
		if order.Customer == "" || order.Object == "" {
			return Plan{}, latchwork.Fail(latchwork.InvalidInput, "order %d has no customer or no object", i+1)
		}
		for _, size := range []int{order.WidthCM, order.HeightCM, order.DepthCM} {
			if size < 1 || size > 600 {
				return Plan{}, latchwork.Fail(latchwork.InvalidInput, "order %d has a size that is not 1 to 600 cm", i+1)
			}
		}
		if order.Insured != nil && *order.Insured < 0 {
			return Plan{}, latchwork.Fail(latchwork.InvalidInput, "order %d is insured for less than nothing", i+1)
		}
		name := ref(order)
		if seen[name] {
			made.Repeated++
			continue
		}
		seen[name] = true
		litres := padded(order.WidthCM) * padded(order.HeightCM) * padded(order.DepthCM) / 1000
		foam := order.Insured != nil && *order.Insured >= 2000
		made.Crates = append(made.Crates, Crate{name, order.Object, litres, foam})
		made.Litres += litres
	}
	return made, nil
}

// main is empty: the host calls the operators.
func main() {}
