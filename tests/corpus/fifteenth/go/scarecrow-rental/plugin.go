package main

import (
	"encoding/json"
	"time"

	"latchwork"
)

type Rental struct {
	Farm  string `json:"farm"`
	Model string `json:"model"`
	Days  int    `json:"days"`
}

type Contract struct {
	Contract string    `json:"contract"`
	Price    int       `json:"price"`
	From     time.Time `json:"from"`
}

// prices has the price of each model for one day.
var prices = map[string]int{"classic": 4, "rattling": 6, "solar": 9}

func init() {
	latchwork.Tool("Scarecrow.Rent", latchwork.Spec{
		Description: "Makes the contract for the rental of a scarecrow.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
		// A contract is named by the external key, so a repetition finds it.
		IdempotentByKey: 7 * 24 * time.Hour,
	}, rent).Verify(check).Compensate(cancel)
}

func rent(call *latchwork.Invocation, rental Rental) (Contract, error) {
	price, known := prices[rental.Model]
	if !known || rental.Farm == "" {
		return Contract{}, latchwork.Fail(latchwork.InvalidInput, "the farm is missing, or there is no model %q", rental.Model)
	}
	if rental.Days < 1 || rental.Days > 120 {
		return Contract{}, latchwork.Fail(latchwork.InvalidInput, "a rental lasts 1 to 120 days")
	}
	name := "contract " + call.ExternalKey

	// A repetition keeps the contract of the first try, with its date.
	kept, found, err := latchwork.KVGet(name)
	if err != nil {
		return Contract{}, err
	}
	if found {
		var contract Contract
		err := json.Unmarshal(kept, &contract)
		return contract, err
	}

	contract := Contract{name, price * rental.Days, time.Now().UTC().Truncate(time.Second)}
	text, err := json.Marshal(contract)
	if err != nil {
		return Contract{}, err
	}
	if err := latchwork.KVSet(name, text); err != nil {
		return Contract{}, err
	}
	call.Changed(latchwork.Change{ResourceType: "contract", ResourceID: name, Operation: "create", Version: string(text)})
	return contract, nil
}

// check is called when a job is resumed. An error means that the check was not possible.
func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the contract is missing", nil
	case string(text) != change.Version:
		return "the contract was changed", nil
	}
	return "", nil
}

// cancel removes the contract, if it is still the one that the call made.
func cancel(call *latchwork.Invocation, _ Rental, made Contract) error {
	text, _, err := latchwork.KVGet(made.Contract)
	if err != nil {
		return err
	}
	if wanted, err := json.Marshal(made); err != nil || string(text) != string(wanted) {
		return latchwork.Fail(latchwork.PolicyDenied, "the contract was changed or removed")
	}
	was, err := latchwork.KVDelete(made.Contract)
	if err != nil {
		return err
	}
	if !was {
		return latchwork.Fail(latchwork.PolicyDenied, "the contract was removed")
	}
	call.Changed(latchwork.Change{ResourceType: "contract", ResourceID: made.Contract, Operation: "delete"})
	return nil
}

// main is empty: the host calls the operators.
func main() {}
