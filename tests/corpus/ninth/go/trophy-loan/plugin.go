package main

import (
	"strconv"

	"latchwork"
)

type Loan struct {
	Trophy  string `json:"trophy"`
	Club    string `json:"club"`
	Deposit int    `json:"deposit"`
}

type Lent struct {
	Loan string `json:"loan"`
}

func init() {
	writes := []latchwork.Effect{latchwork.InternalWrite}
	latchwork.Tool("Trophy.Lend", latchwork.Spec{
		Description: "Lends a trophy to a club, for a deposit.", Effects: writes,
	}, lend).Verify(check).Compensate(takeBack)
	latchwork.Tool("Deposit.Collect", latchwork.Spec{
		Description: "Collects the deposit of a loan.", Effects: writes,
	}, collect).Verify(check)
}

func lend(call *latchwork.Invocation, loan Loan) (Lent, error) {
	if loan.Deposit < 1 || loan.Trophy == "" || len(loan.Trophy)+len(loan.Club) > 500 {
		return Lent{}, latchwork.Fail(latchwork.InvalidInput, "the loan has no trophy or no deposit, or too long names")
	}
	if err := latchwork.KVSet("deposit/"+call.ExternalKey, []byte(strconv.Itoa(loan.Deposit))); err != nil {
		return Lent{}, err
	}
	if err := latchwork.KVSet("loan/"+call.ExternalKey, []byte(loan.Trophy+"\n"+loan.Club)); err != nil {
		failure := latchwork.Fail(latchwork.DependencyUnavailable, "the loan was not kept: %w", err)
		failure.Applied = latchwork.AppliedUnknown
		return Lent{}, failure
	}
	return lent(call, loan), nil
}

func lent(call *latchwork.Invocation, loan Loan) Lent {
	call.Changed(latchwork.Change{ResourceType: "deposit", ResourceID: "deposit/" + call.ExternalKey,
		Operation: "create", Version: strconv.Itoa(loan.Deposit)})
	call.Changed(latchwork.Change{ResourceType: "loan", ResourceID: "loan/" + call.ExternalKey,
		Operation: "create", Version: loan.Trophy + "\n" + loan.Club})
	return Lent{call.ExternalKey}
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case found == (change.Operation == "delete"):
		return "the entry was removed or came back", nil
	case string(text) != change.Version:
		return "the entry was changed", nil
	}
	return "", nil
}

func takeBack(call *latchwork.Invocation, _ Loan, _ Lent) error {
	for _, kind := range []string{"loan", "deposit"} {
		id := kind + "/" + call.ExternalKey
		was, err := latchwork.KVDelete(id)
		if err != nil {
			return err
		}
		if !was {
			return latchwork.Fail(latchwork.PolicyDenied, "the %s is not there any more", kind)
		}
		call.Changed(latchwork.Change{ResourceType: kind, ResourceID: id, Operation: "delete"})
	}
	return nil
}

func collect(call *latchwork.Invocation, lent Lent) (Lent, error) {
	was, err := latchwork.KVDelete("deposit/" + lent.Loan)
	if err == nil && !was {
		err = latchwork.Fail(latchwork.MissingRequiredContext, "loan %s has no deposit", lent.Loan)
	}
	if err != nil {
		return Lent{}, err
	}
	call.Changed(latchwork.Change{ResourceType: "deposit", ResourceID: "deposit/" + lent.Loan, Operation: "delete"})
	return lent, nil
}

func main() {}
