package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"latchwork"
)

type Core struct {
	Borehole string `json:"borehole"`
	Log      string `json:"log"`
}

// Head is the entry that makes a core visible. It is written last.
type Head struct {
	Borehole string `json:"borehole"`
	Parts    int    `json:"parts"`
	Bytes    int    `json:"bytes"`
	Digest   string `json:"digest"`
}

type Stored struct {
	Core   string `json:"core"`
	Bytes  int    `json:"bytes"`
	Digest string `json:"digest"`
}

func init() {
	latchwork.Tool("Borehole.Store", latchwork.Spec{
		Description: "Stores the log of a drill core, which may be larger than an entry.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, store).Reconcile(find).Verify(check).Compensate(discard)
}

const partBytes, mostBytes = 60_000, 600_000

func head(key string) string         { return "core/" + key }
func part(key string, i int) string  { return fmt.Sprintf("part/%s#%d", key, i) }
func count(size int) int             { return (size + partBytes - 1) / partBytes }
func piece(log string, i int) string { return log[i*partBytes : min((i+1)*partBytes, len(log))] }

func digest(log string) string {
	sum := sha256.Sum256([]byte(log))
	return hex.EncodeToString(sum[:])
}

func with(applied latchwork.Applied, err error) error {
	var failure *latchwork.Failure
	if errors.As(err, &failure) {
		failure.Applied = applied
	}
	return err
}

func store(call *latchwork.Invocation, core Core) (Stored, error) {
	if strings.TrimSpace(core.Borehole) == "" || len(core.Borehole) > 100 {
		return Stored{}, latchwork.Fail(latchwork.InvalidInput, "the borehole has no usable name")
	}
	if core.Log == "" || len(core.Log) > mostBytes {
		return Stored{}, latchwork.Fail(latchwork.InvalidInput, "a log has between 1 and %d bytes", mostBytes)
	}
	made := Head{core.Borehole, count(len(core.Log)), len(core.Log), digest(core.Log)}
	text, err := json.Marshal(made)
	if err != nil {
		return Stored{}, err
	}
	for i := range made.Parts {
		if err := latchwork.KVSet(part(call.ExternalKey, i), []byte(piece(core.Log, i))); err != nil {
			if i > 0 {
				err = with(latchwork.AppliedUnknown, err)
			}
			return Stored{}, err
		}
	}
	if err := latchwork.KVSet(head(call.ExternalKey), text); err != nil {
		return Stored{}, with(latchwork.AppliedUnknown, err)
	}
	return stored(call, made), nil
}

func stored(call *latchwork.Invocation, made Head) Stored {
	call.Changed(latchwork.Change{ResourceType: "core", ResourceID: call.ExternalKey, Operation: "create", Version: made.Digest})
	return Stored{call.ExternalKey, made.Bytes, made.Digest}
}

// load returns the head and the log of a core, and what is wrong with them, if anything.
func load(key string) (made Head, log, wrong string, found bool, err error) {
	text, found, err := latchwork.KVGet(head(key))
	if err != nil || !found {
		return made, "", "", false, err
	}
	if json.Unmarshal(text, &made) != nil || made.Parts != count(made.Bytes) || made.Bytes > mostBytes {
		return made, "", "the head of the core is damaged", true, nil
	}
	for i := range made.Parts {
		text, there, err := latchwork.KVGet(part(key, i))
		if err != nil {
			return made, "", "", true, err
		}
		if !there {
			return made, "", fmt.Sprintf("part %d of the core is missing", i), true, nil
		}
		log += string(text)
	}
	if digest(log) != made.Digest {
		wrong = "the log of the core was changed"
	}
	return made, log, wrong, true, nil
}

func find(call *latchwork.Invocation, core Core) (latchwork.Verdict, error) {
	made, log, wrong, found, err := load(call.ExternalKey)
	switch {
	case err != nil:
		return latchwork.Unknown, err
	case !found:
		return latchwork.DidNotHappen, nil
	case wrong != "" || log != core.Log || made.Borehole != core.Borehole:
		// The core was changed since.
		return latchwork.Unknown, nil
	}
	return latchwork.Happened(stored(call, made)), nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	made, _, wrong, found, err := load(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the core is missing", nil
	case wrong == "" && made.Digest != change.Version:
		return "the core has another log", nil
	}
	return wrong, nil
}

// discard removes a core that is still as the call stored it: first the head, then the parts.
func discard(call *latchwork.Invocation, core Core, _ Stored) error {
	made, log, wrong, found, err := load(call.ExternalKey)
	if err != nil {
		return with(latchwork.AppliedNo, err)
	}
	if !found || wrong != "" || log != core.Log || made.Borehole != core.Borehole {
		return latchwork.Fail(latchwork.PolicyDenied, "the core was changed or removed since")
	}
	existed, err := latchwork.KVDelete(head(call.ExternalKey))
	if err != nil {
		return with(latchwork.AppliedUnknown, err)
	}
	if !existed {
		return latchwork.Fail(latchwork.PolicyDenied, "the core was removed by another party")
	}
	for i := range made.Parts {
		existed, err := latchwork.KVDelete(part(call.ExternalKey, i))
		if err == nil && !existed {
			err = latchwork.Fail(latchwork.PolicyDenied, "part %d of the core was removed by another party", i)
		}
		if err != nil {
			return with(latchwork.AppliedUnknown, err)
		}
	}
	call.Changed(latchwork.Change{ResourceType: "core", ResourceID: call.ExternalKey, Operation: "delete"})
	return nil
}

func main() {}
