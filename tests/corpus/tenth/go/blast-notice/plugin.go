package main

import (
	"errors"
	"fmt"

	"latchwork"
)

type Blast struct {
	Quarry string `json:"quarry"`
	At     string `json:"at"`
	Plan   string `json:"plan"`
}

type Posted struct {
	Notice string `json:"notice"`
	Plan   string `json:"plan"`
}

func init() {
	latchwork.Tool("Blast.Announce", latchwork.Spec{
		Description: "Stores the plan of a blast, then posts the notice that refers to it.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, announce).Reconcile(find).Verify(check).Compensate(withdraw)
}

func names(key string) Posted { return Posted{Notice: "blast/" + key, Plan: "blast-plan/" + key} }

func notice(blast Blast, posted Posted) string {
	return fmt.Sprintf("%s: blast at %s, see %s", blast.Quarry, blast.At, posted.Plan)
}

func announce(call *latchwork.Invocation, blast Blast) (Posted, error) {
	if blast.Quarry == "" || len(blast.Quarry) > 80 || blast.At == "" || len(blast.At) > 40 || blast.Plan == "" {
		return Posted{}, latchwork.Fail(latchwork.InvalidInput, "a notice needs a quarry, a time and a plan")
	}
	posted := names(call.ExternalKey)
	// Readers begin with the notice. Until it is there, the plan is only a remainder that the next try replaces.
	if err := latchwork.KVSet(posted.Plan, []byte(blast.Plan)); err != nil {
		return Posted{}, err
	}
	if err := latchwork.KVSet(posted.Notice, []byte(notice(blast, posted))); err != nil {
		return Posted{}, inDoubt(err)
	}
	return done(call, blast, "create"), nil
}

func find(call *latchwork.Invocation, blast Blast) (latchwork.Verdict, error) {
	_, found, err := latchwork.KVGet(names(call.ExternalKey).Notice)
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(done(call, blast, "create")), nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(change.ResourceID)
	if err != nil {
		return "", err
	}
	if change.Operation == "delete" {
		if found {
			return change.ResourceID + " is there again", nil
		}
		return "", nil
	}
	if !found || string(text) != change.Version {
		return change.ResourceID + " was changed or removed", nil
	}
	return "", nil
}

func withdraw(call *latchwork.Invocation, blast Blast, _ Posted) error {
	posted := names(call.ExternalKey)
	for name, want := range map[string]string{posted.Notice: notice(blast, posted), posted.Plan: blast.Plan} {
		text, found, err := latchwork.KVGet(name)
		if err != nil {
			return err
		}
		if !found || string(text) != want {
			return latchwork.Fail(latchwork.PolicyDenied, "%s was changed or removed", name)
		}
	}
	if existed, err := latchwork.KVDelete(posted.Notice); err != nil {
		return err
	} else if !existed {
		return latchwork.Fail(latchwork.PolicyDenied, "the notice was removed meanwhile")
	}
	if existed, err := latchwork.KVDelete(posted.Plan); err != nil {
		return inDoubt(err)
	} else if !existed {
		return inDoubt(latchwork.Fail(latchwork.PolicyDenied, "the plan was removed meanwhile"))
	}
	done(call, blast, "delete")
	return nil
}

// done records the changes of a call.
func done(call *latchwork.Invocation, blast Blast, operation string) Posted {
	posted := names(call.ExternalKey)
	call.Changed(latchwork.Change{ResourceType: "plan", ResourceID: posted.Plan, Operation: operation, Version: blast.Plan})
	call.Changed(latchwork.Change{
		ResourceType: "notice", ResourceID: posted.Notice, Operation: operation, Version: notice(blast, posted),
	})
	return posted
}

func inDoubt(err error) error {
	var failure *latchwork.Failure
	if errors.As(err, &failure) {
		failure.Applied = latchwork.AppliedUnknown
	}
	return err
}

func main() {}
