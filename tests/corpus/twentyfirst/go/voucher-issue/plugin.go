package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"latchwork"
)

type Order struct {
	Customer string    `json:"customer"`
	Cents    int       `json:"cents"`
	RedeemBy time.Time `json:"redeem_by"`
}

type Voucher struct {
	Code     string    `json:"code"`
	Cents    int       `json:"cents"`
	RedeemBy time.Time `json:"redeem_by"`
}

func init() {
	latchwork.Tool("Voucher.Issue", latchwork.Spec{
		Description: "Issues a voucher to a customer.",
		Input: latchwork.Schema(`{"type":"object","properties":{` +
			`"customer":{"type":"string","minLength":1,"maxLength":80},` +
			`"cents":{"type":"integer","minimum":100,"maximum":100000},` +
			`"redeem_by":{"type":"string","pattern":"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"}},` +
			`"required":["customer","cents","redeem_by"],"additionalProperties":false}`),
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 48 * time.Hour,
	}, issue).Reconcile(find).Verify(check)
}

func entry(key string) string { return "voucher/" + key }

// codeOf makes the code of a voucher from the key of its call, so each try makes the same code.
func codeOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return strings.ToUpper(hex.EncodeToString(sum[:8]))
}

func issue(call *latchwork.Invocation, order Order) (Voucher, error) {
	if strings.TrimSpace(order.Customer) == "" {
		return Voucher{}, latchwork.Fail(latchwork.InvalidInput, "the customer is empty")
	}
	if !order.RedeemBy.After(time.Now()) {
		return Voucher{}, latchwork.Fail(latchwork.InvalidInput, "the voucher would have expired")
	}
	if _, found, err := latchwork.KVGet(entry(call.ExternalKey)); err != nil {
		return Voucher{}, err
	} else if found {
		return issued(call, order), nil
	}
	value, err := json.Marshal(order)
	if err != nil {
		return Voucher{}, err
	}
	if err := latchwork.KVSet(entry(call.ExternalKey), value); err != nil {
		return Voucher{}, err
	}
	return issued(call, order), nil
}

func issued(call *latchwork.Invocation, order Order) Voucher {
	code := codeOf(call.ExternalKey)
	call.Changed(latchwork.Change{ResourceType: "voucher", ResourceID: call.ExternalKey, Operation: "create",
		ExternalRef: code})
	return Voucher{code, order.Cents, order.RedeemBy}
}

// find is called after a crash and finds out whether the voucher was issued.
func find(call *latchwork.Invocation, order Order) (latchwork.Verdict, error) {
	_, found, err := latchwork.KVGet(entry(call.ExternalKey))
	switch {
	case err != nil:
		return latchwork.Unknown, err
	case !found:
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(issued(call, order)), nil
}

// check is called when a job is resumed.
func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	_, found, err := latchwork.KVGet(entry(change.ResourceID))
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the voucher is missing", nil
	case codeOf(change.ResourceID) != change.ExternalRef:
		return "the voucher has another code", nil
	}
	return "", nil
}

// main is empty: the host calls the operators.
func main() {}
