// The peal book of a tower: the peal itself, and the line on the notice board of the tower. Both have the key of the
// call in their names.
package main

import (
	"encoding/json"

	"latchwork"
)

type Peal struct {
	Method  string   `json:"method"`
	Changes int      `json:"changes"`
	Ringers []string `json:"ringers"`
}

type Booked struct {
	Peal   string `json:"peal"`
	Notice string `json:"notice"`
}

func init() {
	latchwork.Tool("Peal.Book", latchwork.Spec{
		Description: "Enters a peal into the book and onto the notice board.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, book).Compensate(withdraw)
}

// doubtful marks a failure that follows the first entry: the peal is in the book already.
func doubtful(err error) error {
	failure, known := err.(*latchwork.Failure)
	if !known {
		return err
	}
	failure.Applied = latchwork.AppliedUnknown
	return failure
}

func book(call *latchwork.Invocation, peal Peal) (Booked, error) {
	if peal.Method == "" || peal.Changes < 1 {
		return Booked{}, latchwork.Fail(latchwork.InvalidInput, "a peal needs a method and its changes")
	}
	if len(peal.Ringers) < 4 || len(peal.Ringers) > 12 {
		return Booked{}, latchwork.Fail(latchwork.InvalidInput, "%s: %d ringers", peal.Method, len(peal.Ringers))
	}
	value, err := json.Marshal(peal)
	if err != nil {
		return Booked{}, err
	}
	booked := Booked{"peal/" + call.ExternalKey, "notice/" + call.ExternalKey}
	if err := latchwork.KVSet(booked.Peal, value); err != nil {
		return Booked{}, err
	}
	if err := latchwork.KVSet(booked.Notice, []byte(peal.Method)); err != nil {
		return Booked{}, doubtful(err)
	}
	call.Changed(latchwork.Change{ResourceType: "peal", ResourceID: booked.Peal, Operation: "create"})
	call.Changed(latchwork.Change{ResourceType: "notice", ResourceID: booked.Notice, Operation: "create"})
	return booked, nil
}

// withdraw removes both entries. An entry that the steeple keeper has taken away is no longer ours to remove, so a
// person has to look at it.
func withdraw(call *latchwork.Invocation, _ Peal, booked Booked) error {
	for i, name := range []string{booked.Notice, booked.Peal} {
		was, err := latchwork.KVDelete(name)
		if err != nil {
			if i > 0 {
				return doubtful(err)
			}
			return err
		}
		if !was {
			return latchwork.Fail(latchwork.PolicyDenied, "%s was removed by someone else", name)
		}
	}
	call.Changed(latchwork.Change{ResourceType: "peal", ResourceID: booked.Peal, Operation: "delete"})
	call.Changed(latchwork.Change{ResourceType: "notice", ResourceID: booked.Notice, Operation: "delete"})
	return nil
}

func main() {}
