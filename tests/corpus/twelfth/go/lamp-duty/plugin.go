package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"latchwork"
)

type Duty struct {
	Lamp   string `json:"lamp"`
	Keeper string `json:"keeper"`
}

// Entry is a line of the log of a lighthouse.
type Entry struct {
	Lamp   string    `json:"lamp"`
	Keeper string    `json:"keeper"`
	At     time.Time `json:"at"`
}

type Logged struct {
	Entry   string `json:"entry"`
	At      string `json:"at"`
	Version string `json:"version"`
}

func init() {
	latchwork.Tool("Lamp.Light", latchwork.Spec{
		Description: "Enters in the log that a keeper has lit a lamp.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
		// A repetition under the same key finds the entry and keeps it.
		IdempotentByKey: 24 * time.Hour,
	}, light).Verify(check).Compensate(strike)
}

func light(call *latchwork.Invocation, duty Duty) (Logged, error) {
	if duty.Lamp == "" || duty.Keeper == "" || len(duty.Lamp)+len(duty.Keeper) > 1000 {
		return Logged{}, latchwork.Fail(latchwork.InvalidInput, "lamp and keeper have 1 to 1000 bytes")
	}
	text, found, err := latchwork.KVGet(entry(call.ExternalKey))
	if err != nil {
		return Logged{}, err
	}
	if !found {
		if text, err = json.Marshal(Entry{duty.Lamp, duty.Keeper, time.Now().UTC()}); err != nil {
			return Logged{}, err
		}
		if err := latchwork.KVSet(entry(call.ExternalKey), text); err != nil {
			return Logged{}, err
		}
	}
	var kept Entry
	if err := json.Unmarshal(text, &kept); err != nil {
		return Logged{}, err
	}
	version := digest(text)
	call.Receipt(map[string]string{"entry": call.ExternalKey, "version": version})
	call.Changed(latchwork.Change{ResourceType: "duty", ResourceID: call.ExternalKey, Operation: "create", Version: version})
	return Logged{call.ExternalKey, kept.At.Format(time.RFC3339), version}, nil
}

// check is called when a job is resumed.
func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(entry(change.ResourceID))
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the entry is missing", nil
	case digest(text) != change.Version:
		return "the entry was changed", nil
	}
	return "", nil
}

// strike is called when the job is cancelled or undone.
func strike(call *latchwork.Invocation, duty Duty, logged Logged) error {
	text, found, err := latchwork.KVGet(entry(call.ExternalKey))
	if err != nil {
		return unchanged(err)
	}
	if !found || digest(text) != logged.Version {
		return latchwork.Fail(latchwork.PolicyDenied, "the entry of %s was changed or removed", duty.Lamp)
	}
	was, err := latchwork.KVDelete(entry(call.ExternalKey))
	if err != nil {
		return err
	}
	if !was {
		return latchwork.Fail(latchwork.PolicyDenied, "the entry of %s was removed", duty.Lamp)
	}
	call.Changed(latchwork.Change{ResourceType: "duty", ResourceID: call.ExternalKey, Operation: "delete"})
	return nil
}

// unchanged marks the failure of a read before the first effect.
func unchanged(err error) error {
	var failure *latchwork.Failure
	if errors.As(err, &failure) {
		failure.Applied = latchwork.AppliedNo
	}
	return err
}

func entry(key string) string { return "duty#" + key }

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// main is empty: the host calls the operators.
func main() {}
