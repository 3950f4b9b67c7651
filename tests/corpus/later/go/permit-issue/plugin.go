package main

import (
	"encoding/json"
	"time"

	"latchwork"
)

type Request struct {
	Holder string `json:"holder"`
	Zone   string `json:"zone"`
}

type Permit struct {
	Number string    `json:"number"`
	Holder string    `json:"holder"`
	Zone   string    `json:"zone"`
	Issued time.Time `json:"issued"`
}

func init() {
	latchwork.Tool("Permit.Issue", latchwork.Spec{
		Description: "Issues a permit for parking in a zone.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, issue).Reconcile(find).Verify(verify)
}

func issue(call *latchwork.Invocation, request Request) (Permit, error) {
	if request.Holder == "" || request.Zone == "" {
		return Permit{}, latchwork.Fail(latchwork.InvalidInput, "a permit needs a holder and a zone")
	}
	permit := Permit{latchwork.UUID(), request.Holder, request.Zone, time.Now().UTC()}
	value, err := json.Marshal(permit)
	if err != nil {
		return Permit{}, err
	}
	if err := latchwork.KVSet(call.ExternalKey, value); err != nil {
		return Permit{}, err
	}
	return issued(call, permit), nil
}

// stored reads the permit of a key, with the number and the time that the call chose.
func stored(key string) (permit Permit, found bool, err error) {
	value, found, err := latchwork.KVGet(key)
	if err != nil || !found {
		return Permit{}, false, err
	}
	err = json.Unmarshal(value, &permit)
	return permit, true, err
}

// find is called after a crash and finds out whether the permit was issued.
func find(call *latchwork.Invocation, _ Request) (latchwork.Verdict, error) {
	permit, found, err := stored(call.ExternalKey)
	if err != nil || !found {
		return latchwork.DidNotHappen, err
	}
	return latchwork.Happened(issued(call, permit)), nil
}

// verify is called when a job is resumed and checks whether the permit is still in place.
func verify(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	permit, found, err := stored(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the permit is missing", nil
	case permit.Number != change.Version:
		return "the permit has the number " + permit.Number, nil
	}
	return "", nil
}

func issued(call *latchwork.Invocation, permit Permit) Permit {
	call.Changed(latchwork.Change{
		ResourceType: "permit", ResourceID: call.ExternalKey, Operation: "create", Version: permit.Number,
	})
	call.Receipt(map[string]string{"number": permit.Number})
	return permit
}

// main is empty: the host calls the operators.
func main() {}
