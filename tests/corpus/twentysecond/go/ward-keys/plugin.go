package main

import (
	"encoding/json"
	"time"

	"latchwork"
)

// Loan lends the key of a hospital ward to a person.
type Loan struct {
	Ward   string `json:"ward"`
	Person string `json:"person"`
}

type Lent struct {
	Loan   string `json:"loan"`
	LentAt int64  `json:"lent_at"`
}

type Return struct {
	Loan string `json:"loan"`
}

type record struct {
	Ward   string `json:"ward"`
	Person string `json:"person"`
	LentAt int64  `json:"lent_at"`
}

const window = 72 * time.Hour

func init() {
	latchwork.Tool("WardKey.Lend", latchwork.Spec{
		Description: "Lends the key of a ward to a person.", IdempotentByKey: window,
		Effects: []latchwork.Effect{latchwork.InternalWrite},
		Input: latchwork.Schema(`{"type": "object", "additionalProperties": false, "required": ["ward", "person"], "properties": {
  "ward": {"type": "string", "minLength": 1, "maxLength": 40}, "person": {"type": "string", "minLength": 1, "maxLength": 80}}}`),
	}, lend).Verify(check).Compensate(cancel)
	latchwork.Tool("WardKey.Return", latchwork.Spec{
		Description: "Notes that the key of a loan is back.", IdempotentByKey: window,
		Effects: []latchwork.Effect{latchwork.InternalWrite},
		Input: latchwork.Schema(`{"type": "object", "additionalProperties": false, "required": ["loan"], "properties": {
  "loan": {"type": "string", "pattern": "^[A-Za-z0-9_:/~-]{1,128}$"}}}`),
	}, giveBack).Verify(check)
}

// lend keeps the entry that an earlier try has written. The entry stays when the key is back.
func lend(call *latchwork.Invocation, loan Loan) (Lent, error) {
	text, found, err := latchwork.KVGet("loan/" + call.ExternalKey)
	if err != nil {
		return Lent{}, err
	}
	if !found {
		// Texts and integers are always JSON.
		text, _ = json.Marshal(record{loan.Ward, loan.Person, time.Now().Unix()})
		if err := latchwork.KVSet("loan/"+call.ExternalKey, text); err != nil {
			return Lent{}, err
		}
	}
	var made record
	if err := json.Unmarshal(text, &made); err != nil {
		return Lent{}, &latchwork.Failure{Code: latchwork.PolicyDenied, Message: "the entry is no loan", Applied: latchwork.AppliedUnknown}
	}
	call.Changed(latchwork.Change{ResourceType: "entry", ResourceID: "loan/" + call.ExternalKey, Operation: "create", Version: string(text)})
	return Lent{call.ExternalKey, made.LentAt}, nil
}

// giveBack writes the same entry in each try.
func giveBack(call *latchwork.Invocation, back Return) (Return, error) {
	_, found, err := latchwork.KVGet("back/" + back.Loan)
	if err != nil {
		return Return{}, err
	}
	if !found {
		if _, lent, err := latchwork.KVGet("loan/" + back.Loan); err != nil {
			return Return{}, err
		} else if !lent {
			return Return{}, latchwork.Fail(latchwork.InvalidInput, "there is no loan %s", back.Loan)
		}
		if err := latchwork.KVSet("back/"+back.Loan, []byte("back")); err != nil {
			return Return{}, err
		}
	}
	call.Changed(latchwork.Change{ResourceType: "entry", ResourceID: "back/" + back.Loan, Operation: "create", Version: "back"})
	return back, nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(change.ResourceID)
	if err == nil && (!found || string(text) != change.Version) {
		return "the entry is missing or was changed", nil
	}
	return "", err
}

// cancel removes a loan, unless its key is back.
func cancel(call *latchwork.Invocation, loan Loan, lent Lent) error {
	_, back, err := latchwork.KVGet("back/" + call.ExternalKey)
	if err != nil {
		return err
	}
	text, _, err := latchwork.KVGet("loan/" + call.ExternalKey)
	if err != nil {
		return err
	}
	var made record
	if json.Unmarshal(text, &made) != nil || made != (record{loan.Ward, loan.Person, lent.LentAt}) || back {
		return latchwork.Fail(latchwork.PolicyDenied, "the key is back, or the loan was changed or removed")
	}
	if there, err := latchwork.KVDelete("loan/" + call.ExternalKey); err != nil {
		return err
	} else if !there {
		return latchwork.Fail(latchwork.PolicyDenied, "the loan was removed")
	}
	call.Changed(latchwork.Change{ResourceType: "entry", ResourceID: "loan/" + call.ExternalKey, Operation: "delete"})
	return nil
}

func main() {}
