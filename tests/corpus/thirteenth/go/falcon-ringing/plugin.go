// Command falcon-ringing records ringed falcons and their measures.
package main

import (
	"encoding/json"
	"errors"
	"time"

	"latchwork"
)

type Bird struct {
	Ring    string `json:"ring"`
	Nest    string `json:"nest"`
	Female  bool   `json:"female"`
	WingMM  int    `json:"wing_mm"`
	WeightG int    `json:"weight_g"`
}

type Ringed struct {
	Record string `json:"record"`
	Ring   string `json:"ring"`
}

func init() {
	latchwork.Tool("Falcon.Ring", latchwork.Spec{
		Description: "Records a ringed falcon, with its measures in a record of their own.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
		// Both records are named by the external key and have values of the arguments alone.
		IdempotentByKey: 24 * time.Hour,
	}, ring).Compensate(takeBack)
}

func ring(call *latchwork.Invocation, bird Bird) (Ringed, error) {
	if bird.Ring == "" || bird.Nest == "" || len(bird.Ring)+len(bird.Nest) > 500 {
		return Ringed{}, latchwork.Fail(latchwork.InvalidInput, "ring and nest are needed, in at most 500 bytes")
	}
	if bird.WingMM < 1 || bird.WingMM > 600 || bird.WeightG < 1 || bird.WeightG > 3000 {
		return Ringed{}, latchwork.Fail(latchwork.InvalidInput, "the measures are not those of a falcon")
	}
	head, measures, err := records(bird)
	if err != nil {
		return Ringed{}, err
	}
	if err := latchwork.KVSet("measures/"+call.ExternalKey, measures); err != nil {
		return Ringed{}, err
	}
	if err := latchwork.KVSet("bird/"+call.ExternalKey, head); err != nil {
		return Ringed{}, inDoubt(err)
	}
	call.Changed(latchwork.Change{ResourceType: "measures", ResourceID: "measures/" + call.ExternalKey, Operation: "create"})
	call.Changed(latchwork.Change{ResourceType: "bird", ResourceID: "bird/" + call.ExternalKey, Operation: "create"})
	return Ringed{call.ExternalKey, bird.Ring}, nil
}

func records(bird Bird) (head, measures []byte, err error) {
	head, err = json.Marshal(map[string]any{"ring": bird.Ring, "nest": bird.Nest, "female": bird.Female})
	if err != nil {
		return nil, nil, err
	}
	measures, err = json.Marshal(map[string]int{"wing_mm": bird.WingMM, "weight_g": bird.WeightG})
	return head, measures, err
}

// takeBack removes the record of a bird that was ringed by mistake.
func takeBack(call *latchwork.Invocation, bird Bird, _ Ringed) error {
	name := "bird/" + call.ExternalKey
	head, _, err := records(bird)
	if err != nil {
		return err
	}
	now, found, err := latchwork.KVGet(name)
	if err != nil {
		return err
	}
	if !found || string(now) != string(head) {
		return latchwork.Fail(latchwork.PolicyDenied, "the record of ring %s was changed or removed", bird.Ring)
	}
	was, err := latchwork.KVDelete(name)
	if err != nil {
		return err
	}
	if !was {
		return latchwork.Fail(latchwork.PolicyDenied, "the record of ring %s is gone", bird.Ring)
	}
	call.Changed(latchwork.Change{ResourceType: "bird", ResourceID: name, Operation: "delete"})
	return nil
}

// inDoubt is for errors after the first write.
func inDoubt(err error) error {
	var failure *latchwork.Failure
	if errors.As(err, &failure) {
		failure.Applied = latchwork.AppliedUnknown
	}
	return err
}

// main is empty: the host calls the operators.
func main() {}
