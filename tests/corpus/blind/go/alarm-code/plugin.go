package main

import (
	"time"

	"latchwork"
)

type Zone struct {
	Zone   string `json:"zone"`
	Digits string `json:"digits"`
}

type Armed struct {
	Code string `json:"code"`
	Zone string `json:"zone"`
}

func init() {
	latchwork.Tool("AlarmCode.Add", latchwork.Spec{
		Description:     "Adds a code of an alarm system for a zone.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 24 * time.Hour,
	}, add)
}

func add(call *latchwork.Invocation, zone Zone) (Armed, error) {
	if len(zone.Digits) < 4 || len(zone.Digits) > 8 {
		return Armed{}, latchwork.Fail(latchwork.InvalidInput, "a code has 4 to 8 digits")
	}
	for _, digit := range zone.Digits {
		if digit < '0' || digit > '9' {
			return Armed{}, latchwork.Fail(latchwork.InvalidInput, "%q is not a digit", digit)
		}
	}
	code := "code/" + call.ExternalKey
	_, exists, err := latchwork.KVGet(code)
	if err != nil {
		return Armed{}, err
	}
	if exists {
		return Armed{}, latchwork.Fail(latchwork.InvalidInput, "the code %s exists already", code)
	}
	if err := latchwork.KVSet(code, []byte(zone.Zone+" "+zone.Digits)); err != nil {
		return Armed{}, err
	}
	call.Changed(latchwork.Change{ResourceType: "code", ResourceID: code, Operation: "create"})
	return Armed{code, zone.Zone}, nil
}

// main is empty: the host calls the operators.
func main() {}
