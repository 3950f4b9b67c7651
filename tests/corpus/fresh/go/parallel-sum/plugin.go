package main

import (
	"runtime"
	"sync"

	"latchwork"
)

type Order struct {
	ID    string  `json:"id"`
	Cents []int32 `json:"cents"`
}

type Orders struct {
	Orders []Order `json:"orders"`
}

type Sum struct {
	ID    string `json:"id"`
	Cents int64  `json:"cents"`
}

type Sums struct {
	Sums  []Sum `json:"sums"`
	Total int64 `json:"total"`
}

func init() {
	latchwork.Step("Order.Sums", latchwork.Spec{
		Description: "Adds the lines of each order.",
		Determinism: latchwork.Pure,
	}, sums)
}

func sums(_ latchwork.Context, in Orders) (Sums, error) {
	made := Sums{Sums: make([]Sum, len(in.Orders))}
	var work sync.WaitGroup
	var total sync.Mutex
	for i, order := range in.Orders {
		work.Add(1)
		go func() {
			defer work.Done()
			sum := int64(0)
			for _, cents := range order.Cents {
				sum += int64(cents)
				// Gives other orders a turn.
				runtime.Gosched()
			}
			// Every goroutine has a place of its own, and whole numbers may be added in any order.
			made.Sums[i] = Sum{order.ID, sum}
			total.Lock()
			defer total.Unlock()
			made.Total += sum
		}()
	}
	work.Wait()
	return made, nil
}

// main is empty: the host calls the operators.
func main() {}
