package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"latchwork"
)

type Request struct {
	Camp    string `json:"camp"`
	Packets int    `json:"packets"`
}

type Issue struct {
	Issue    string `json:"issue"`
	Camp     string `json:"camp"`
	Packets  int    `json:"packets"`
	IssuedAt string `json:"issued_at"`
}

func init() {
	latchwork.Tool("Ration.Issue", latchwork.Spec{
		Description:     "Issues ration packets to a camp and keeps the slip.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 48 * time.Hour,
	}, issue).Verify(check)
}

func slip(key string) string { return "slip/" + key }

func version(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func issue(call *latchwork.Invocation, request Request) (Issue, error) {
	if strings.TrimSpace(request.Camp) == "" || len(request.Camp) > 200 {
		return Issue{}, latchwork.Fail(latchwork.InvalidInput, "the camp has no usable name")
	}
	if request.Packets < 1 || request.Packets > 5000 {
		return Issue{}, latchwork.Fail(latchwork.InvalidInput, "%d packets cannot be issued at once", request.Packets)
	}
	name := slip(call.ExternalKey)
	text, found, err := latchwork.KVGet(name)
	if err != nil {
		return Issue{}, err
	}
	if found {
		// A repeated call: the slip stays as it was written.
		var issued Issue
		if err := json.Unmarshal(text, &issued); err != nil {
			return Issue{}, latchwork.Fail(latchwork.SchemaValidationFailed, "slip %s: %w", name, err)
		}
		return issued, nil
	}
	issued := Issue{call.ExternalKey, request.Camp, request.Packets, time.Now().UTC().Format(time.RFC3339)}
	text, err = json.Marshal(issued)
	if err != nil {
		return Issue{}, err
	}
	if err := latchwork.KVSet(name, text); err != nil {
		return Issue{}, err
	}
	call.Changed(latchwork.Change{ResourceType: "slip", ResourceID: name, Operation: "create", Version: version(text)})
	return issued, nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the slip is missing", nil
	case version(text) != change.Version:
		return "the slip was changed", nil
	}
	return "", nil
}

func main() {}
