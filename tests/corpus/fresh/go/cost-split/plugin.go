package main

import (
	"sort"

	"latchwork"
)

type Expense struct {
	Paid   string  `json:"paid"`
	Amount float64 `json:"amount"`
}

type Trip struct {
	Expenses []Expense `json:"expenses"`
}

type Balance struct {
	Name string  `json:"name"`
	Owes float64 `json:"owes"`
}

type Settled struct {
	Total    float64   `json:"total"`
	Balances []Balance `json:"balances"`
}

func init() {
	latchwork.Step("Trip.Settle", latchwork.Spec{
		Description: "Splits the costs of a trip.",
		Determinism: latchwork.Pure,
	}, settle)
}

func settle(_ latchwork.Context, trip Trip) (Settled, error) {
	paid := map[string]float64{}
	for _, expense := range trip.Expenses {
		if expense.Amount < 0 || expense.Amount > 1e6 {
			return Settled{}, latchwork.Fail(latchwork.InvalidInput, "%s paid %g", expense.Paid, expense.Amount)
		}
		paid[expense.Paid] += expense.Amount
	}
	if len(paid) == 0 {
		return Settled{}, latchwork.Fail(latchwork.InvalidInput, "there are no expenses")
	}
	total := 0.0
	for _, amount := range paid {
		total += amount
	}
	share := total / float64(len(paid))
	balances := []Balance{}
	for name, amount := range paid {
		balances = append(balances, Balance{name, share - amount})
	}
	sort.Slice(balances, func(i, j int) bool { return balances[i].Name < balances[j].Name })
	return Settled{total, balances}, nil
}

// main is empty: the host calls the operators.
func main() {}
