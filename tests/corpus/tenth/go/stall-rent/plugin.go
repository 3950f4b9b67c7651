package main

import (
	"fmt"

	"latchwork"
)

type Rent struct {
	Stall  int    `json:"stall"`
	Trader string `json:"trader"`
	Goods  string `json:"goods"`
	Day    string `json:"day"`
}

type Rented struct {
	Contract string `json:"contract"`
	Notice   string `json:"notice"`
}

func init() {
	latchwork.Tool("Stall.Rent", latchwork.Spec{
		Description: "Rents a market stall to a trader and posts the notice for the warden.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, rent).Verify(check).Compensate(cancel)
}

func contract(rent Rent) string {
	return fmt.Sprintf("%s rents stall %d on %s", rent.Trader, rent.Stall, rent.Day)
}

func notice(rent Rent) string { return fmt.Sprintf("stall %d: %s (%s)", rent.Stall, rent.Goods, rent.Trader) }

func rent(call *latchwork.Invocation, rent Rent) (Rented, error) {
	if rent.Stall < 1 || rent.Stall > 120 || rent.Trader == "" {
		return Rented{}, latchwork.Fail(latchwork.InvalidInput, "a trader and a stall from 1 to 120 are needed")
	}
	rented := Rented{"contract/" + call.ExternalKey, "notice/" + call.ExternalKey}
	if err := latchwork.KVSet(rented.Contract, []byte(contract(rent))); err != nil {
		return Rented{}, err
	}
	if err := latchwork.KVSet(rented.Notice, []byte(notice(rent))); err != nil {
		failure := latchwork.Fail(latchwork.DependencyUnavailable, "the notice of stall %d: %w", rent.Stall, err)
		failure.Applied = latchwork.AppliedUnknown
		return Rented{}, failure
	}
	call.Changed(latchwork.Change{ResourceType: "contract", ResourceID: rented.Contract, Operation: "create", Version: contract(rent)})
	call.Changed(latchwork.Change{ResourceType: "notice", ResourceID: rented.Notice, Operation: "create", Version: notice(rent)})
	return rented, nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case change.Operation == "delete" && found:
		return "the " + change.ResourceType + " is there again", nil
	case change.Operation != "delete" && (!found || string(text) != change.Version):
		return "the " + change.ResourceType + " was changed or removed", nil
	}
	return "", nil
}

// cancel ends the contract of a trader who does not come.
func cancel(call *latchwork.Invocation, rent Rent, rented Rented) error {
	text, found, err := latchwork.KVGet(rented.Contract)
	if err != nil {
		return err
	}
	if !found || string(text) != contract(rent) {
		return latchwork.Fail(latchwork.PolicyDenied, "the contract was changed or has ended")
	}
	if existed, err := latchwork.KVDelete(rented.Contract); err != nil {
		return err
	} else if !existed {
		return latchwork.Fail(latchwork.PolicyDenied, "the contract has ended meanwhile")
	}
	call.Changed(latchwork.Change{ResourceType: "contract", ResourceID: rented.Contract, Operation: "delete"})
	return nil
}

func main() {}
