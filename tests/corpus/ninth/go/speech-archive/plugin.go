package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"latchwork"
)

// The map takes 64 KiB in one entry.
const part = 60_000
const longest = 150_000

type Speech struct {
	Text string `json:"text"`
}

type Archived struct {
	ID     string `json:"id"`
	SHA256 string `json:"sha256"`
}

type ID struct {
	ID string `json:"id"`
}

// index makes the parts of a speech a speech: no operator looks at a part without it.
type index struct {
	Parts  int    `json:"parts"`
	SHA256 string `json:"sha256"`
}

func init() {
	latchwork.Tool("Speech.Archive", latchwork.Spec{
		Description: "Archives the text of a speech.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, archive).Reconcile(find).Verify(check).Compensate(remove)
	latchwork.Tool("Speech.Read", latchwork.Spec{Description: "Reads an archived speech."}, read)
}

func archive(call *latchwork.Invocation, speech Speech) (Archived, error) {
	if speech.Text == "" || len(speech.Text) > longest {
		return Archived{}, latchwork.Fail(latchwork.InvalidInput, "a speech has 1 to %d bytes", longest)
	}
	made := indexOf(speech.Text)
	for i := range made.Parts {
		content := speech.Text[i*part : min((i+1)*part, len(speech.Text))]
		if err := latchwork.KVSet(partKey(call.ExternalKey, i), []byte(content)); err != nil {
			return Archived{}, err
		}
	}
	entry, err := json.Marshal(made)
	if err != nil {
		return Archived{}, err
	}
	if err := latchwork.KVSet("speech/"+call.ExternalKey, entry); err != nil {
		return Archived{}, err
	}
	return archived(call, made), nil
}

func archived(call *latchwork.Invocation, made index) Archived {
	call.Changed(latchwork.Change{
		ResourceType: "speech", ResourceID: call.ExternalKey, Operation: "create", Version: made.SHA256,
	})
	return Archived{call.ExternalKey, made.SHA256}
}

func find(call *latchwork.Invocation, speech Speech) (latchwork.Verdict, error) {
	_, found, err := latchwork.KVGet("speech/" + call.ExternalKey)
	switch {
	case err != nil:
		return latchwork.Unknown, err
	case !found:
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(archived(call, indexOf(speech.Text))), nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, complete, err := load(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !complete:
		return "the speech is missing or not complete", nil
	case indexOf(text).SHA256 != change.Version:
		return "the speech has another text", nil
	}
	return "", nil
}

func remove(call *latchwork.Invocation, speech Speech, _ Archived) error {
	text, complete, err := load(call.ExternalKey)
	if err != nil {
		return err
	}
	if !complete || text != speech.Text {
		return latchwork.Fail(latchwork.PolicyDenied, "the speech was changed or removed")
	}
	// Without its index the speech was removed, so the index is the first to go.
	was, err := latchwork.KVDelete("speech/" + call.ExternalKey)
	if err != nil {
		return err
	}
	if !was {
		return latchwork.Fail(latchwork.PolicyDenied, "the speech was removed by another party")
	}
	for i := range indexOf(text).Parts {
		was, err := latchwork.KVDelete(partKey(call.ExternalKey, i))
		if err == nil && !was {
			err = fmt.Errorf("it is not there")
		}
		if err != nil {
			failure := latchwork.Fail(latchwork.DependencyUnavailable, "part %d was not removed: %w", i, err)
			failure.Applied = latchwork.AppliedUnknown
			return failure
		}
	}
	call.Changed(latchwork.Change{ResourceType: "speech", ResourceID: call.ExternalKey, Operation: "delete"})
	return nil
}

func read(_ *latchwork.Invocation, asked ID) (Speech, error) {
	text, complete, err := load(asked.ID)
	if err == nil && !complete {
		err = latchwork.Fail(latchwork.MissingRequiredContext, "there is no speech %s", asked.ID)
	}
	return Speech{text}, err
}

func load(id string) (text string, complete bool, err error) {
	entry, found, err := latchwork.KVGet("speech/" + id)
	if err != nil || !found {
		return "", false, err
	}
	var made index
	if err := json.Unmarshal(entry, &made); err != nil {
		return "", false, err
	}
	for i := range made.Parts {
		content, found, err := latchwork.KVGet(partKey(id, i))
		if err != nil || !found {
			return "", false, err
		}
		text += string(content)
	}
	return text, true, nil
}

func indexOf(text string) index {
	sum := sha256.Sum256([]byte(text))
	return index{(len(text) + part - 1) / part, hex.EncodeToString(sum[:])}
}

func partKey(id string, i int) string { return fmt.Sprintf("part/%s/%d", id, i) }

func main() {}
