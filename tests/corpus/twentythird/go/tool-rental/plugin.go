// Lends machines of a hire shop. A loan is one entry of the map, named by the key of its call.
package main

import (
	"encoding/json"
	"strings"
	"time"

	"latchwork"
)

type request struct {
	Machine  string `json:"machine"`
	Customer string `json:"customer"`
	Days     int    `json:"days"`
}

// loan is the entry of the map.
type loan struct {
	Machine  string    `json:"machine"`
	Customer string    `json:"customer"`
	Days     int       `json:"days"`
	LentAt   time.Time `json:"lent_at"`
}

type contract struct {
	Loan         string    `json:"loan"`
	DueAt        time.Time `json:"due_at"`
	DepositCents int       `json:"deposit_cents"`
}

var depositCents = map[string]int{"floor sander": 15000, "mini digger": 100000, "steam cleaner": 8000, "trench rammer": 30000}

const input = `{"type": "object", "required": ["machine", "customer", "days"], "additionalProperties": false, "properties": {
	"machine": {"enum": ["floor sander", "mini digger", "steam cleaner", "trench rammer"]},
	"customer": {"type": "string", "maxLength": 100},
	"days": {"type": "integer", "minimum": 1, "maximum": 30}}}`

func init() {
	latchwork.Tool("Loan.Open", latchwork.Spec{
		Description: "Opens the loan of a machine.",
		Input:       json.RawMessage(input),
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, open).Reconcile(find)
}

func name(key string) string { return "loan/" + key }

// due returns the end of a loan, some days later at the end of the minute.
func due(days int) time.Time {
	return time.Now().UTC().AddDate(0, 0, days).Truncate(time.Minute).Add(time.Minute)
}

func contractOf(call *latchwork.Invocation, one loan) contract {
	call.Receipt(map[string]string{"loan": call.ExternalKey})
	return contract{call.ExternalKey, due(one.Days), depositCents[one.Machine]}
}

func open(call *latchwork.Invocation, in request) (contract, error) {
	customer := strings.TrimSpace(in.Customer)
	if customer == "" {
		return contract{}, latchwork.Fail(latchwork.InvalidInput, "the loan has no customer")
	}
	one := loan{in.Machine, customer, in.Days, time.Now().UTC()}
	value, err := json.Marshal(one)
	if err != nil {
		return contract{}, latchwork.Fail(latchwork.InvalidInput, "the loan cannot be written: %w", err)
	}
	if err := latchwork.KVSet(name(call.ExternalKey), value); err != nil {
		return contract{}, err
	}
	return contractOf(call, one), nil
}

// find looks for the loan of a call whose answer was lost. Loans are never removed.
func find(call *latchwork.Invocation, _ request) (latchwork.Verdict, error) {
	value, found, err := latchwork.KVGet(name(call.ExternalKey))
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	var one loan
	if err := json.Unmarshal(value, &one); err != nil {
		return latchwork.Unknown, latchwork.Fail(latchwork.DependencyUnavailable, "the loan cannot be read: %w", err)
	}
	return latchwork.Happened(contractOf(call, one)), nil
}

// main is empty: the host calls the operators.
func main() {}
