// Pays an amount into a money jar. The balance of each jar is in the map, and so is a mark for each call, so that a
// repetition of a call pays in nothing.
package main

import (
	"strconv"
	"time"

	"latchwork"
)

type Payment struct {
	Jar   string `json:"jar"`
	Cents int64  `json:"cents"`
}

type Paid struct {
	Jar   string `json:"jar"`
	Cents int64  `json:"cents"`
}

func init() {
	latchwork.Tool("Jar.Pay", latchwork.Spec{
		Description:     "Pays an amount into a money jar.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 7 * 24 * time.Hour,
	}, pay).Reconcile(find)
}

func pay(call *latchwork.Invocation, payment Payment) (Paid, error) {
	if payment.Jar == "" || payment.Cents <= 0 || payment.Cents > 1_000_000 {
		return Paid{}, latchwork.Fail(latchwork.InvalidInput, "the jar or the amount is not valid")
	}
	_, done, err := latchwork.KVGet("paid/" + call.ExternalKey)
	if err != nil {
		return Paid{}, err
	}
	if done {
		return paid(call, payment), nil
	}
	text, found, err := latchwork.KVGet("jar/" + payment.Jar)
	if err != nil {
		return Paid{}, err
	}
	balance := int64(0)
	if found {
		if balance, err = strconv.ParseInt(string(text), 10, 64); err != nil {
			return Paid{}, latchwork.Fail(latchwork.SchemaValidationFailed, "the balance is no number: %w", err)
		}
	}
	balance += payment.Cents
	if err := latchwork.KVSet("jar/"+payment.Jar, strconv.AppendInt(nil, balance, 10)); err != nil {
		return Paid{}, err
	}
	if err := latchwork.KVSet("paid/"+call.ExternalKey, []byte(payment.Jar)); err != nil {
		return Paid{}, latchwork.Fail(latchwork.DependencyUnavailable, "the mark is not written: %w", err)
	}
	return paid(call, payment), nil
}

// find is called after a crash and finds out whether the call happened.
func find(call *latchwork.Invocation, payment Payment) (latchwork.Verdict, error) {
	_, done, err := latchwork.KVGet("paid/" + call.ExternalKey)
	if err != nil || !done {
		return latchwork.Unknown, err
	}
	return latchwork.Happened(paid(call, payment)), nil
}

func paid(call *latchwork.Invocation, payment Payment) Paid {
	call.Changed(latchwork.Change{ResourceType: "payment", ResourceID: call.ExternalKey, Operation: "create"})
	return Paid{payment.Jar, payment.Cents}
}

// main is empty: the host calls the operators.
func main() {}
