package main

import (
	"math"
	"strconv"

	"latchwork"
)

type Rate struct {
	Currency string  `json:"currency"`
	PerEuro  float64 `json:"per_euro"`
}

type Stored struct {
	Currency string `json:"currency"`
}

type Amount struct {
	Currency string `json:"currency"`
	Cents    int64  `json:"cents"`
}

type Converted struct {
	EuroCents int64 `json:"euro_cents"`
}

const currency = `"currency":{"type":"string","pattern":"^[A-Z]{3}$"}`

func init() {
	latchwork.Tool("Rate.Set", latchwork.Spec{
		Description: "Sets the exchange rate of a currency.",
		Input: latchwork.Schema(`{"type":"object","properties":{` + currency + `,` +
			`"per_euro":{"type":"number","minimum":0.0001,"maximum":1000000}},` +
			`"required":["currency","per_euro"],"additionalProperties":false}`),
		Effects: []latchwork.Effect{latchwork.InternalWrite},
	}, set)
	latchwork.Tool("Rate.Convert", latchwork.Spec{
		Description: "Converts an amount to euros and rounds it to cents.",
		Input: latchwork.Schema(`{"type":"object","properties":{` + currency + `,` +
			`"cents":{"type":"integer","minimum":0,"maximum":100000000000}},` +
			`"required":["currency","cents"],"additionalProperties":false}`),
		Effects:     []latchwork.Effect{latchwork.ReadOnly},
		Determinism: latchwork.Pure,
	}, convert)
}

func entry(currency string) string { return "rate/" + currency }

func set(call *latchwork.Invocation, rate Rate) (Stored, error) {
	if rate.Currency == "EUR" {
		return Stored{}, latchwork.Fail(latchwork.InvalidInput, "the rate of EUR is 1")
	}
	value := strconv.FormatFloat(rate.PerEuro, 'g', -1, 64)
	if err := latchwork.KVSet(entry(rate.Currency), []byte(value)); err != nil {
		return Stored{}, err
	}
	call.Changed(latchwork.Change{ResourceType: "rate", ResourceID: rate.Currency, Operation: "update", Version: value})
	return Stored{rate.Currency}, nil
}

func convert(_ *latchwork.Invocation, amount Amount) (Converted, error) {
	if amount.Currency == "EUR" {
		return Converted{amount.Cents}, nil
	}
	value, found, err := latchwork.KVGet(entry(amount.Currency))
	if err != nil {
		return Converted{}, err
	}
	if !found {
		return Converted{}, latchwork.Fail(latchwork.InvalidInput, "%s has no rate", amount.Currency)
	}
	perEuro, err := strconv.ParseFloat(string(value), 64)
	if err != nil || perEuro <= 0 {
		return Converted{}, latchwork.Fail(latchwork.PolicyDenied, "%q is no rate of %s", value, amount.Currency)
	}
	return Converted{int64(math.Round(float64(amount.Cents) / perEuro))}, nil
}

// main is empty: the host calls the operators.
func main() {}
