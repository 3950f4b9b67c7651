package main

import (
	"math"
	"strconv"

	"latchwork"
)

type Amount struct {
	Cents int64  `json:"cents"`
	From  string `json:"from"`
	To    string `json:"to"`
}

type Converted struct {
	Cents int64  `json:"cents"`
	Rate  string `json:"rate"`
}

func init() {
	latchwork.Tool("Amount.Convert", latchwork.Spec{
		Description: "Converts an amount with the rates of the finance department.",
		Effects:     []latchwork.Effect{latchwork.ReadOnly},
		// The rates are fixed for a year, and nothing else is read.
		Determinism: latchwork.Pure,
	}, convert)
}

func convert(_ *latchwork.Invocation, amount Amount) (Converted, error) {
	if amount.Cents > 1e12 || amount.Cents < -1e12 {
		return Converted{}, latchwork.Fail(latchwork.InvalidInput, "%d cents", amount.Cents)
	}
	if amount.From == amount.To {
		return Converted{amount.Cents, "1"}, nil
	}
	stored, found, err := latchwork.KVGet("rate:" + amount.From + ":" + amount.To)
	if err != nil {
		return Converted{}, err
	}
	if !found {
		return Converted{}, latchwork.Fail(latchwork.MissingRequiredContext, "no rate from %s to %s", amount.From, amount.To)
	}
	rate, err := strconv.ParseFloat(string(stored), 64)
	if err != nil || rate <= 0 || rate > 1000 {
		return Converted{}, latchwork.Fail(latchwork.MissingRequiredContext, "the rate %q is wrong", stored)
	}
	return Converted{int64(math.Round(float64(amount.Cents) * rate)), string(stored)}, nil
}

// main is empty: the host calls the operators.
func main() {}
