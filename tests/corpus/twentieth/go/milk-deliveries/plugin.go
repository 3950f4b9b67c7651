// Command milk-deliveries settles the milk that farms have delivered to a dairy.
package main

import (
	"slices"
	"strings"

	"latchwork"
)

// Delivery is one can or tanker of milk.
type Delivery struct {
	Farm   string  `json:"farm"`
	Litres float64 `json:"litres"`
	Fat    float64 `json:"fat"`
}

type Input struct {
	Price      float64    `json:"price"`
	Deliveries []Delivery `json:"deliveries"`
}

// Share is the amount that the dairy owes to a farm.
type Share struct {
	Farm   string  `json:"farm"`
	Litres float64 `json:"litres"`
	Amount float64 `json:"amount"`
}

type Settlement struct {
	Shares []Share `json:"shares"`
	Litres float64 `json:"litres"`
	Amount float64 `json:"amount"`
}

func init() {
	latchwork.Step("Milk.Settle", latchwork.Spec{
		Description:   "Settles the milk that farms have delivered.",
		OutcomeType:   "Milk.Settlement",
		OutcomeStatus: "draft",
	}, settle)
}

// bonus returns the factor by which fat content raises or lowers the price.
func bonus(fat float64) float64 {
	return 1 + (fat-4.0)*0.08
}

func settle(_ latchwork.Context, in Input) (Settlement, error) {
	if in.Price <= 0 || in.Price > 10 {
		return Settlement{}, latchwork.Fail(latchwork.InvalidInput, "the price of a litre is not between 0 and 10")
	}
	if len(in.Deliveries) == 0 {
		return Settlement{}, latchwork.Fail(latchwork.InvalidInput, "there are no deliveries")
	}
	farms := map[string]*Share{}
	for i, delivery := range in.Deliveries {
		farm := strings.TrimSpace(delivery.Farm)
		if farm == "" {
			return Settlement{}, latchwork.Fail(latchwork.InvalidInput, "delivery %d has no farm", i+1)
		}
		if delivery.Litres <= 0 || delivery.Litres > 50000 || delivery.Fat < 2 || delivery.Fat > 8 {
			return Settlement{}, latchwork.Fail(latchwork.InvalidInput, "delivery %d of %s cannot be right", i+1, farm)
		}
		share := farms[farm]
		if share == nil {
			share = &Share{Farm: farm}
			farms[farm] = share
		}
		share.Litres += delivery.Litres
		share.Amount += delivery.Litres * in.Price * bonus(delivery.Fat)
	}

	made := Settlement{Shares: make([]Share, 0, len(farms))}
	for _, share := range farms {
		made.Shares = append(made.Shares, *share)
		made.Litres += share.Litres
		made.Amount += share.Amount
	}
	slices.SortFunc(made.Shares, func(a, b Share) int { return strings.Compare(a.Farm, b.Farm) })
	return made, nil
}

// main is empty: the host calls the operators.
func main() {}
