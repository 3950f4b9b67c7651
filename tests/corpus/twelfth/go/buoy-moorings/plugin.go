package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"latchwork"
)

type Mooring struct {
	Buoy   string  `json:"buoy"`
	Lat    float64 `json:"lat"`
	Lon    float64 `json:"lon"`
	DepthM float64 `json:"depth_m"`
}

type Registered struct {
	Record string `json:"record"`
	Scope  int    `json:"scope_m"`
}

func init() {
	latchwork.Tool("Mooring.Register", latchwork.Spec{
		Description: "Registers the mooring of a buoy under the key of the call.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, register).Reconcile(find).Verify(check)
}

func register(call *latchwork.Invocation, mooring Mooring) (Registered, error) {
	if mooring.Lat < -90 || mooring.Lat > 90 || mooring.Lon < -180 || mooring.Lon > 180 {
		return Registered{}, latchwork.Fail(latchwork.InvalidInput, "%s is not at a place on earth", mooring.Buoy)
	}
	if mooring.DepthM <= 0 || mooring.DepthM > 6000 {
		return Registered{}, latchwork.Fail(latchwork.InvalidInput, "no chain reaches %g m", mooring.DepthM)
	}
	text, err := json.Marshal(mooring)
	if err != nil {
		return Registered{}, err
	}
	if err := latchwork.KVSet(entry(call.ExternalKey), text); err != nil {
		return Registered{}, err
	}
	return registered(call, mooring, text), nil
}

func registered(call *latchwork.Invocation, mooring Mooring, text []byte) Registered {
	call.Changed(latchwork.Change{
		ResourceType: "mooring", ResourceID: call.ExternalKey, Operation: "create", Version: digest(text),
	})
	return Registered{call.ExternalKey, int(mooring.DepthM * 3)}
}

// find is called after a crash and finds out whether the call happened.
func find(call *latchwork.Invocation, mooring Mooring) (latchwork.Verdict, error) {
	text, found, err := latchwork.KVGet(entry(call.ExternalKey))
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(registered(call, mooring, text)), nil
}

// check is called when a job is resumed.
func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(entry(change.ResourceID))
	if err != nil || !found {
		return "the mooring is not in the register", nil
	}
	if digest(text) != change.Version {
		return "the mooring was changed", nil
	}
	return "", nil
}

func entry(key string) string { return "mooring#" + key }

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// main is empty: the host calls the operators.
func main() {}
