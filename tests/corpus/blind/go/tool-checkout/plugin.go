package main

import (
	"encoding/json"
	"time"

	"latchwork"
)

type Loan struct {
	Tool     string `json:"tool"`
	Borrower string `json:"borrower"`
}

type Lent struct {
	Tool string    `json:"tool"`
	At   time.Time `json:"at"`
}

type entry struct {
	Tool     string    `json:"tool"`
	Borrower string    `json:"borrower"`
	At       time.Time `json:"at"`
}

func init() {
	latchwork.Tool("ToolCheckout.Lend", latchwork.Spec{
		Description: "Lends a tool of the workshop.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, lend).Reconcile(find).Verify(check).Compensate(undo)
}

// Each loan has an entry of its own. The present holder is the borrower of the last loan.
func entryOf(key string) string {
	return "loan/" + key
}

func read(name string) (made entry, found bool, err error) {
	value, found, err := latchwork.KVGet(name)
	if err != nil || !found {
		return entry{}, false, err
	}
	if json.Unmarshal(value, &made) != nil {
		return entry{}, false, latchwork.Fail(latchwork.MissingRequiredContext, "the entry %s is damaged", name)
	}
	return made, true, nil
}

func lend(call *latchwork.Invocation, loan Loan) (Lent, error) {
	if loan.Tool == "" || len(loan.Tool) > 60 || loan.Borrower == "" || len(loan.Borrower) > 200 {
		return Lent{}, latchwork.Fail(latchwork.InvalidInput, "a tool and a borrower are needed")
	}
	made := entry{loan.Tool, loan.Borrower, time.Now().UTC()}
	value, err := json.Marshal(made)
	if err != nil {
		return Lent{}, err
	}
	if err := latchwork.KVSet(entryOf(call.ExternalKey), value); err != nil {
		return Lent{}, err
	}
	return lent(call, made), nil
}

func lent(call *latchwork.Invocation, made entry) Lent {
	call.Changed(latchwork.Change{ResourceType: "loan", ResourceID: entryOf(call.ExternalKey), Operation: "create", Version: made.Borrower})
	return Lent{made.Tool, made.At}
}

func find(call *latchwork.Invocation, _ Loan) (latchwork.Verdict, error) {
	made, found, err := read(entryOf(call.ExternalKey))
	switch {
	case err != nil:
		return latchwork.Unknown, err
	case !found:
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(lent(call, made)), nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	made, found, err := read(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the tool is not lent", nil
	case made.Borrower != change.Version:
		return "the tool was lent to " + made.Borrower, nil
	}
	return "", nil
}

func undo(call *latchwork.Invocation, _ Loan, done Lent) error {
	name := entryOf(call.ExternalKey)
	made, found, err := read(name)
	if err != nil {
		return err
	}
	if !found || !made.At.Equal(done.At) {
		return latchwork.Fail(latchwork.PolicyDenied, "the loan has ended")
	}
	if _, err := latchwork.KVDelete(name); err != nil {
		return err
	}
	call.Changed(latchwork.Change{ResourceType: "loan", ResourceID: name, Operation: "delete"})
	return nil
}

// main is empty: the host calls the operators.
func main() {}
