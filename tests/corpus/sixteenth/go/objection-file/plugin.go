// Command objection-file keeps the objections of citizens to building plans.
package main

import (
	"encoding/json"
	"strings"

	"latchwork"
)

type Objection struct {
	Plan   string `json:"plan"`
	Person string `json:"person"`
	Text   string `json:"text"`
}

type Filed struct {
	Objection string `json:"objection"`
}

type Withdrawal struct {
	Objection string `json:"objection"`
	Reason    string `json:"reason"`
}

type Withdrawn struct {
	Plan   string `json:"plan"`
	Person string `json:"person"`
}

func init() {
	latchwork.Tool("Objection.File", latchwork.Spec{
		Description: "Files an objection to a building plan.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, file).Reconcile(find)
	latchwork.Tool("Objection.Withdraw", latchwork.Spec{
		Description: "Moves an objection to the withdrawn ones, with the reason.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, withdraw)
}

func file(call *latchwork.Invocation, objection Objection) (Filed, error) {
	if strings.TrimSpace(objection.Plan) == "" || strings.TrimSpace(objection.Person) == "" {
		return Filed{}, latchwork.Fail(latchwork.InvalidInput, "the plan or the person is missing")
	}
	if len(objection.Text) > 20000 {
		return Filed{}, latchwork.Fail(latchwork.InvalidInput, "the text has more than 20000 bytes")
	}
	value, err := json.Marshal(objection)
	if err != nil {
		return Filed{}, err
	}
	if err := latchwork.KVSet("objection/"+call.ExternalKey, value); err != nil {
		return Filed{}, err
	}
	return filed(call), nil
}

// find is called after a crash and finds out whether the objection was filed.
func find(call *latchwork.Invocation, _ Objection) (latchwork.Verdict, error) {
	_, found, err := latchwork.KVGet("objection/" + call.ExternalKey)
	switch {
	case err != nil:
		return latchwork.Unknown, err
	case !found:
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(filed(call)), nil
}

func filed(call *latchwork.Invocation) Filed {
	call.Changed(latchwork.Change{ResourceType: "objection", ResourceID: call.ExternalKey, Operation: "create"})
	return Filed{call.ExternalKey}
}

// withdraw notes the withdrawal first, then removes the objection from the open ones.
func withdraw(call *latchwork.Invocation, in Withdrawal) (Withdrawn, error) {
	value, found, err := latchwork.KVGet("objection/" + in.Objection)
	if err != nil {
		return Withdrawn{}, err
	}
	if !found {
		return Withdrawn{}, latchwork.Fail(latchwork.MissingRequiredContext, "objection %s is not open", in.Objection)
	}
	var objection Objection
	if err := json.Unmarshal(value, &objection); err != nil {
		return Withdrawn{}, latchwork.Fail(latchwork.PolicyDenied, "objection %s cannot be read: %w", in.Objection, err)
	}
	if err := latchwork.KVSet("withdrawn/"+in.Objection, []byte(in.Reason)); err != nil {
		return Withdrawn{}, err
	}
	gone, err := latchwork.KVDelete("objection/" + in.Objection)
	if err != nil || !gone {
		failure := latchwork.Fail(latchwork.DependencyUnavailable, "objection %s was not removed", in.Objection)
		failure.Applied = latchwork.AppliedUnknown
		return Withdrawn{}, failure
	}
	call.Changed(latchwork.Change{ResourceType: "objection", ResourceID: in.Objection, Operation: "delete"})
	return Withdrawn{objection.Plan, objection.Person}, nil
}

// main is empty: the host calls the operators.
func main() {}
