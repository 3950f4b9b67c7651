// Command sextant-lending keeps the loans of the instruments of a sailing school.
package main

import (
	"encoding/json"
	"strings"

	"latchwork"
)

type Loan struct {
	Instrument string `json:"instrument"`
	Borrower   string `json:"borrower"`
}

type Lent struct {
	Loan string `json:"loan"`
}

type Return struct {
	Loan      string `json:"loan"`
	Condition string `json:"condition"`
}

type Returned struct {
	Instrument string `json:"instrument"`
	Borrower   string `json:"borrower"`
	Condition  string `json:"condition"`
}

// record is the entry of a loan. Its state is "out" or "back".
type record struct {
	Loan
	State     string `json:"state"`
	Condition string `json:"condition,omitempty"`
}

func init() {
	latchwork.Tool("Instrument.Lend", latchwork.Spec{
		Description: "Lends an instrument.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, lend).Verify(check)
	latchwork.Tool("Instrument.Return", latchwork.Spec{
		Description: "Notes that a lent instrument is back.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, giveBack).Verify(check)
}

func lend(call *latchwork.Invocation, loan Loan) (Lent, error) {
	if strings.TrimSpace(loan.Instrument) == "" || strings.TrimSpace(loan.Borrower) == "" {
		return Lent{}, latchwork.Fail(latchwork.InvalidInput, "the instrument or the borrower is missing")
	}
	if err := write(call.ExternalKey, record{Loan: loan, State: "out"}); err != nil {
		return Lent{}, err
	}
	call.Changed(latchwork.Change{
		ResourceType: "loan", ResourceID: call.ExternalKey, Operation: "create", Version: "out",
	})
	return Lent{call.ExternalKey}, nil
}

func giveBack(call *latchwork.Invocation, in Return) (Returned, error) {
	kept, found, err := read(in.Loan)
	if err != nil {
		return Returned{}, err
	}
	if !found {
		return Returned{}, latchwork.Fail(latchwork.MissingRequiredContext, "there is no loan %s", in.Loan)
	}
	kept.State, kept.Condition = "back", in.Condition
	if err := write(in.Loan, kept); err != nil {
		return Returned{}, err
	}
	call.Changed(latchwork.Change{
		ResourceType: "return", ResourceID: in.Loan, Operation: "create", Version: "back",
	})
	return Returned{kept.Instrument, kept.Borrower, in.Condition}, nil
}

// check is called when a job is resumed. It returns "" if the loan has the state that the change gave it.
func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	kept, found, err := read(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the loan is missing", nil
	case kept.State != change.Version:
		return "the instrument is " + kept.State, nil
	}
	return "", nil
}

func read(loan string) (kept record, found bool, err error) {
	value, found, err := latchwork.KVGet("loan/" + loan)
	if err != nil || !found {
		return kept, false, err
	}
	if err := json.Unmarshal(value, &kept); err != nil {
		return kept, false, latchwork.Fail(latchwork.PolicyDenied, "the loan %s cannot be read: %w", loan, err)
	}
	return kept, true, nil
}

func write(loan string, kept record) error {
	value, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	return latchwork.KVSet("loan/"+loan, value)
}

// main is empty: the host calls the operators.
func main() {}
