// Sends orders in batches. Orders of one supplier go into one batch.
package main

import (
	"errors"

	"latchwork"
)

type Orders struct {
	Orders []Order `json:"orders"`
}

type Order struct {
	Supplier string `json:"supplier"`
	Item     string `json:"item"`
}

type Sent struct {
	Batches int `json:"batches"`
	Items   int `json:"items"`
}

type batch struct {
	Supplier string   `json:"supplier"`
	Items    []string `json:"items"`
}

func init() {
	latchwork.Step("Order.Batch", latchwork.Spec{
		Description: "Sends the orders of each supplier in one batch.",
		Effects:     []latchwork.Effect{latchwork.ExternalSend},
		Determinism: latchwork.External,
	}, send)
}

func send(_ latchwork.Context, orders Orders) (Sent, error) {
	suppliers := []string{}
	items := map[string][]string{}
	for _, order := range orders.Orders {
		if order.Supplier == "" || order.Item == "" {
			return Sent{}, latchwork.Fail(latchwork.InvalidInput, "an order has no supplier or no item")
		}
		if _, known := items[order.Supplier]; !known {
			suppliers = append(suppliers, order.Supplier)
		}
		items[order.Supplier] = append(items[order.Supplier], order.Item)
	}
	made := Sent{}
	for _, supplier := range suppliers {
		_, err := latchwork.Call[any]("Supplier.Order", batch{supplier, items[supplier]})
		var failure *latchwork.Failure
		if errors.As(err, &failure) && failure.Code == latchwork.InvalidInput {
			// The supplier takes no batches: each item is an order of its own.
			err = single(supplier, items[supplier])
		}
		if err != nil {
			return Sent{}, err
		}
		made.Batches++
		made.Items += len(items[supplier])
	}
	return made, nil
}

// single orders the items one by one. A supplier answers with a negative id if it has no such item.
func single(supplier string, items []string) error {
	for _, item := range items {
		answer, err := latchwork.Call[map[string]string]("Supplier.Order", batch{supplier, []string{item}})
		if err != nil {
			return err
		}
		if answer["id"][0] == '-' {
			return latchwork.Fail(latchwork.PolicyDenied, "%s has no %s", supplier, item)
		}
	}
	return nil
}

// main is empty: the host calls the operators.
func main() {}
