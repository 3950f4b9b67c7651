// The carton register of a record office. A label with a barcode leads to the carton, whose list of files has the key of
// the call in its name.
package main

import (
	"encoding/json"

	"latchwork"
)

type Carton struct {
	Barcode string   `json:"barcode"`
	Shelf   string   `json:"shelf"`
	Files   []string `json:"files"`
}

type Registered struct {
	Carton string `json:"carton"`
	Files  int    `json:"files"`
}

type Question struct {
	Barcode string `json:"barcode"`
}

type Found struct {
	Known  bool   `json:"known"`
	Carton string `json:"carton"`
}

func init() {
	latchwork.Tool("Carton.Register", latchwork.Spec{
		Description: "Registers a carton under its barcode.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, register).Reconcile(happened)
	latchwork.Tool("Carton.Find", latchwork.Spec{
		Description: "Tells which carton has a barcode.",
		Effects:     []latchwork.Effect{latchwork.ReadOnly},
	}, find)
}

func label(barcode string) string { return "label/" + barcode }

func cartonName(call *latchwork.Invocation) string { return "carton/" + call.ExternalKey }

func registered(call *latchwork.Invocation, carton Carton) Registered {
	call.Changed(latchwork.Change{ResourceType: "carton", ResourceID: cartonName(call), Operation: "create"})
	return Registered{cartonName(call), len(carton.Files)}
}

func register(call *latchwork.Invocation, carton Carton) (Registered, error) {
	if len(carton.Barcode) < 4 || len(carton.Barcode) > 40 || carton.Shelf == "" {
		return Registered{}, latchwork.Fail(latchwork.InvalidInput, "a carton needs a barcode and a shelf")
	}
	value, err := json.Marshal(carton)
	if err != nil {
		return Registered{}, err
	}
	if len(value) > 60000 {
		return Registered{}, latchwork.Fail(latchwork.InvalidInput, "carton %s has too many files", carton.Barcode)
	}
	if err := latchwork.KVSet(label(carton.Barcode), []byte(cartonName(call))); err != nil {
		return Registered{}, err
	}
	// The carton comes last: it completes the registration.
	if err := latchwork.KVSet(cartonName(call), value); err != nil {
		if failure, known := err.(*latchwork.Failure); known {
			failure.Applied = latchwork.AppliedUnknown
		}
		return Registered{}, err
	}
	return registered(call, carton), nil
}

// happened looks for the carton, which is written last.
func happened(call *latchwork.Invocation, carton Carton) (latchwork.Verdict, error) {
	_, found, err := latchwork.KVGet(cartonName(call))
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(registered(call, carton)), nil
}

func find(_ *latchwork.Invocation, question Question) (Found, error) {
	if question.Barcode == "" {
		return Found{}, latchwork.Fail(latchwork.InvalidInput, "no barcode")
	}
	name, known, err := latchwork.KVGet(label(question.Barcode))
	if err != nil {
		return Found{}, err
	}
	return Found{known, string(name)}, nil
}

func main() {}
