package main

import (
	"encoding/json"
	"time"

	"latchwork"
)

type Referral struct {
	Code    string    `json:"code"`
	Region  string    `json:"region"`
	Expires time.Time `json:"expires"`
}

type Saved struct {
	Code string `json:"code"`
}

type Wanted struct {
	Code string `json:"code"`
}

type Found struct {
	Valid  bool   `json:"valid"`
	Region string `json:"region"`
}

const codePattern = `"code":{"type":"string","pattern":"^X[0-9]{4,10}$"}`

func init() {
	latchwork.Tool("Referral.Save", latchwork.Spec{
		Description: "Saves a referral for an X-ray until it expires.",
		Input: latchwork.Schema(`{"type":"object","properties":{` + codePattern + `,` +
			`"region":{"type":"string","minLength":1,"maxLength":80},` +
			`"expires":{"type":"string","pattern":"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"}},` +
			`"required":["code","region","expires"],"additionalProperties":false}`),
		Effects: []latchwork.Effect{latchwork.InternalWrite},
	}, save)
	latchwork.Tool("Referral.Find", latchwork.Spec{
		Description: "Finds a referral that is still valid.",
		Input: latchwork.Schema(`{"type":"object","properties":{` + codePattern + `},` +
			`"required":["code"],"additionalProperties":false}`),
		Effects: []latchwork.Effect{latchwork.ReadOnly},
	}, find)
}

func entry(code string) string { return "referral/" + code }

func save(call *latchwork.Invocation, referral Referral) (Saved, error) {
	value, err := json.Marshal(referral)
	if err != nil {
		return Saved{}, err
	}
	if err := latchwork.KVSet(entry(referral.Code), value); err != nil {
		return Saved{}, err
	}
	call.Changed(latchwork.Change{ResourceType: "referral", ResourceID: referral.Code, Operation: "update",
		Version: string(value)})
	return Saved{referral.Code}, nil
}

func find(_ *latchwork.Invocation, wanted Wanted) (Found, error) {
	value, found, err := latchwork.KVGet(entry(wanted.Code))
	if err != nil || !found {
		return Found{}, err
	}
	var referral Referral
	if err := json.Unmarshal(value, &referral); err != nil {
		return Found{}, latchwork.Fail(latchwork.DependencyUnavailable, "the entry of %s: %w", wanted.Code, err)
	}
	if time.Now().After(referral.Expires) {
		// Housekeeping: the answer does not depend on it.
		_, _ = latchwork.KVDelete(entry(wanted.Code))
		return Found{}, nil
	}
	return Found{true, referral.Region}, nil
}

// main is empty: the host calls the operators.
func main() {}
