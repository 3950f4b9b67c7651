package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"time"

	"latchwork"
)

type Reading struct {
	Lantern string `json:"lantern"`
	Lumens  int    `json:"lumens"`
}

type Stored struct {
	Lantern string `json:"lantern"`
	Lumens  int    `json:"lumens"`
	Checked string `json:"checked"`
}

type Kept struct {
	Entry   string `json:"entry"`
	Checked string `json:"checked"`
}

func init() {
	latchwork.Tool("Lantern.Record", latchwork.Spec{
		Description: "Records the brightness of a harbour lantern, with the time of the check.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, record).Reconcile(find).Verify(check).Compensate(strike)
}

// The names of entries have neither ':' nor '/', so that the export can use them as names of files. No key has '+'
// or '.'.
var plain = strings.NewReplacer(":", "+", "/", ".")

func entry(key string) string { return "lantern-" + plain.Replace(key) }

const writes = 3

func record(call *latchwork.Invocation, reading Reading) (Kept, error) {
	if strings.TrimSpace(reading.Lantern) == "" || len(reading.Lantern) > 100 {
		return Kept{}, latchwork.Fail(latchwork.InvalidInput, "the lantern has no usable name")
	}
	if reading.Lumens < 0 || reading.Lumens > 1_000_000 {
		return Kept{}, latchwork.Fail(latchwork.InvalidInput, "%d lumens", reading.Lumens)
	}
	stored := Stored{reading.Lantern, reading.Lumens, time.Now().UTC().Format(time.RFC3339)}
	text, err := json.Marshal(stored)
	if err != nil {
		return Kept{}, err
	}
	name := entry(call.ExternalKey)
	doubt := false
	for try := 1; ; try++ {
		err := latchwork.KVSet(name, text)
		if err == nil {
			return kept(call, stored, text), nil
		}
		var failure *latchwork.Failure
		retryable := errors.As(err, &failure) && failure.Code == latchwork.DependencyUnavailable
		// A write without an answer may have been made.
		doubt = doubt || retryable
		if !retryable || try == writes {
			if failure != nil && doubt {
				failure.Applied = latchwork.AppliedUnknown
			}
			return Kept{}, err
		}
		slog.Warn("the entry was not written", "entry", name, "try", try)
	}
}

func version(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func kept(call *latchwork.Invocation, stored Stored, text []byte) Kept {
	name := entry(call.ExternalKey)
	call.Changed(latchwork.Change{ResourceType: "lantern-check", ResourceID: name, Operation: "create", Version: version(text)})
	return Kept{name, stored.Checked}
}

func find(call *latchwork.Invocation, reading Reading) (latchwork.Verdict, error) {
	text, found, err := latchwork.KVGet(entry(call.ExternalKey))
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	var stored Stored
	if err := json.Unmarshal(text, &stored); err != nil {
		return latchwork.Unknown, latchwork.Fail(latchwork.SchemaValidationFailed, "the entry cannot be read: %w", err)
	}
	if stored.Lantern != reading.Lantern || stored.Lumens != reading.Lumens {
		// The record was changed since.
		return latchwork.Unknown, nil
	}
	return latchwork.Happened(kept(call, stored, text)), nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the record of the check is missing", nil
	case version(text) != change.Version:
		return "the record of the check was changed", nil
	}
	return "", nil
}

func unchanged(err error) error {
	var failure *latchwork.Failure
	if errors.As(err, &failure) {
		failure.Applied = latchwork.AppliedNo
	}
	return err
}

// strike removes a record that is still as the call wrote it.
func strike(call *latchwork.Invocation, reading Reading, result Kept) error {
	name := entry(call.ExternalKey)
	text, found, err := latchwork.KVGet(name)
	if err != nil {
		return unchanged(err)
	}
	written, err := json.Marshal(Stored{reading.Lantern, reading.Lumens, result.Checked})
	if err != nil {
		return err
	}
	if !found || string(text) != string(written) {
		return unchanged(latchwork.Fail(latchwork.PolicyDenied, "the record was changed or removed since"))
	}
	existed, err := latchwork.KVDelete(name)
	if err != nil {
		return err
	}
	if !existed {
		return unchanged(latchwork.Fail(latchwork.PolicyDenied, "the record was removed by another party"))
	}
	call.Changed(latchwork.Change{ResourceType: "lantern-check", ResourceID: name, Operation: "delete"})
	return nil
}

func main() {}
