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
	Tool   string `json:"tool"`
	Before string `json:"before"`
}

type entry struct {
	Key      string    `json:"key"`
	Borrower string    `json:"borrower"`
	Before   string    `json:"before"`
	At       time.Time `json:"at"`
}

func init() {
	latchwork.Tool("ToolCheckout.Lend", latchwork.Spec{
		Description: "Lends a tool of the workshop.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, lend).Reconcile(find).Verify(check).Compensate(undo)
}

func read(name string) (made entry, before string, err error) {
	value, found, err := latchwork.KVGet(name)
	if err != nil || !found {
		return entry{}, "", err
	}
	if json.Unmarshal(value, &made) != nil {
		return entry{}, "", latchwork.Fail(latchwork.MissingRequiredContext, "the entry of %s is damaged", name)
	}
	return made, string(value), nil
}

func lend(call *latchwork.Invocation, loan Loan) (Lent, error) {
	if loan.Tool == "" || len(loan.Tool) > 60 || loan.Borrower == "" || len(loan.Borrower) > 200 {
		return Lent{}, latchwork.Fail(latchwork.InvalidInput, "a tool and a borrower are needed")
	}
	held, text, err := read("tool/" + loan.Tool)
	if err != nil {
		return Lent{}, err
	}
	if held.Key == call.ExternalKey {
		return lent(call, loan, held), nil
	}
	made := entry{call.ExternalKey, loan.Borrower, text, time.Now().UTC()}
	value, err := json.Marshal(made)
	if err != nil {
		return Lent{}, err
	}
	if err := latchwork.KVSet("tool/"+loan.Tool, value); err != nil {
		return Lent{}, err
	}
	return lent(call, loan, made), nil
}

func lent(call *latchwork.Invocation, loan Loan, made entry) Lent {
	call.Changed(latchwork.Change{ResourceType: "tool", ResourceID: "tool/" + loan.Tool, Operation: "update", Version: made.Key})
	return Lent{loan.Tool, made.Before}
}

// find cannot tell a call that another loan has replaced from one that never happened.
func find(call *latchwork.Invocation, loan Loan) (latchwork.Verdict, error) {
	held, text, err := read("tool/" + loan.Tool)
	switch {
	case err != nil:
		return latchwork.Unknown, err
	case text == "":
		return latchwork.DidNotHappen, nil
	case held.Key == call.ExternalKey:
		return latchwork.Happened(lent(call, loan, held)), nil
	}
	return latchwork.Unknown, nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	held, text, err := read(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case text == "":
		return "the tool is not lent", nil
	case held.Key != change.Version:
		return "the tool was lent to " + held.Borrower, nil
	}
	return "", nil
}

func undo(call *latchwork.Invocation, loan Loan, _ Lent) error {
	name := "tool/" + loan.Tool
	held, text, err := read(name)
	if err != nil {
		return err
	}
	if text == "" || held.Key != call.ExternalKey {
		return latchwork.Fail(latchwork.PolicyDenied, "the tool was given back or lent again")
	}
	if held.Before == "" {
		_, err = latchwork.KVDelete(name)
	} else {
		err = latchwork.KVSet(name, []byte(held.Before))
	}
	if err != nil {
		return err
	}
	call.Changed(latchwork.Change{ResourceType: "tool", ResourceID: name, Operation: "update"})
	return nil
}

// main is empty: the host calls the operators.
func main() {}
