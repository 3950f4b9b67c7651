// Rents canoes. A rental is an entry of the map under the key of its call. The return of a canoe is an entry of its
// own, because the book of the station keeps both.
package main

import "latchwork"

type Rental struct {
	Canoe string `json:"canoe"`
	Guest string `json:"guest"`
}

type Return struct {
	Canoe string `json:"canoe"`
	Hours int    `json:"hours"`
}

type Noted struct {
	Entry string `json:"entry"`
}

func init() {
	effects := []latchwork.Effect{latchwork.InternalWrite}
	latchwork.Tool("Canoe.Rent", latchwork.Spec{Description: "Rents a canoe to a guest.", Effects: effects}, rent).
		Reconcile(findRental).Verify(checkEntry)
	latchwork.Tool("Canoe.Return", latchwork.Spec{Description: "Notes the return of a canoe.", Effects: effects}, bring).
		Reconcile(findReturn)
}

func rent(call *latchwork.Invocation, rental Rental) (Noted, error) {
	if rental.Canoe == "" || rental.Guest == "" {
		return Noted{}, latchwork.Fail(latchwork.InvalidInput, "canoe or guest is empty")
	}
	return write(call, "rental/", rental.Canoe)
}

func bring(call *latchwork.Invocation, back Return) (Noted, error) {
	if back.Canoe == "" || back.Hours < 1 {
		return Noted{}, latchwork.Fail(latchwork.InvalidInput, "canoe is empty, or hours is below 1")
	}
	return write(call, "return/", back.Canoe)
}

func findRental(call *latchwork.Invocation, rental Rental) (latchwork.Verdict, error) {
	return find(call, "rental/", rental.Canoe)
}

func findReturn(call *latchwork.Invocation, back Return) (latchwork.Verdict, error) {
	return find(call, "return/", back.Canoe)
}

func write(call *latchwork.Invocation, prefix, canoe string) (Noted, error) {
	if err := latchwork.KVSet(prefix+call.ExternalKey, []byte(canoe)); err != nil {
		return Noted{}, err
	}
	return noted(call, prefix, canoe), nil
}

// find is called after a crash and finds out whether the call happened.
func find(call *latchwork.Invocation, prefix, canoe string) (latchwork.Verdict, error) {
	_, found, err := latchwork.KVGet(prefix + call.ExternalKey)
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(noted(call, prefix, canoe)), nil
}

// checkEntry is called when a job is resumed. It returns "" if the change is still in place.
func checkEntry(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the entry is missing", nil
	case string(text) != change.Version:
		return "the entry names another canoe", nil
	}
	return "", nil
}

func noted(call *latchwork.Invocation, prefix, canoe string) Noted {
	call.Changed(latchwork.Change{
		ResourceType: "entry", ResourceID: prefix + call.ExternalKey, Operation: "create", Version: canoe,
	})
	return Noted{prefix + call.ExternalKey}
}

// main is empty: the host calls the operators.
func main() {}
