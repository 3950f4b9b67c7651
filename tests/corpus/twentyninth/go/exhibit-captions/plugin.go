// Exhibit-captions hangs texts beside the objects of an exhibition. A text may be longer than one entry of the map, so it
// is kept in parts. The head is written last, and every reader begins with the head.
package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"latchwork"
)

const partBytes = 60000

type Caption struct {
	Object string `json:"object"`
	Text   string `json:"text"`
}

type Head struct {
	Object string `json:"object"`
	Parts  int    `json:"parts"`
	SHA256 string `json:"sha256"`
	Hung   int64  `json:"hung_at"`
}

type Hung struct {
	Caption string `json:"caption"`
	Head
}

func init() {
	latchwork.Tool("Caption.Hang", latchwork.Spec{
		Description: "Hangs a text beside an object.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
		Determinism: latchwork.External,
		Input: latchwork.Schema(`{"type":"object","properties":{
			"object":{"type":"string","minLength":1,"maxLength":80},"text":{"type":"string","maxLength":100000}},
			"required":["object","text"],"additionalProperties":false}`),
	}, hang).Reconcile(find).Compensate(takeDown)
	latchwork.Tool("Caption.Read", latchwork.Spec{
		Description: "Reads the text of a caption.",
		Input: latchwork.Schema(`{"type":"object","properties":{"caption":{"type":"string","pattern":"^[A-Za-z0-9_:/~-]{1,128}$"}},
			"required":["caption"],"additionalProperties":false}`),
	}, read)
}

func headKey(key string) string           { return "caption/" + key }
func partKey(key string, part int) string { return fmt.Sprintf("part/%s/%d", key, part) }

func digest(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }

// applied sets what a failure of the map means for the whole call.
func applied(err error, value latchwork.Applied) error {
	var failure *latchwork.Failure
	if errors.As(err, &failure) {
		failure.Applied = value
	}
	return err
}

func loadHead(key string) (Head, bool, error) {
	var head Head
	text, found, err := latchwork.KVGet(headKey(key))
	if err == nil && found && json.Unmarshal(text, &head) != nil {
		err = latchwork.Fail(latchwork.PolicyDenied, "the head of %s is damaged", key)
	}
	return head, found, err
}

// loadText returns false if a part is missing or has another text.
func loadText(key string, head Head) ([]byte, bool, error) {
	var text []byte
	for part := range head.Parts {
		bytes, found, err := latchwork.KVGet(partKey(key, part))
		if err != nil || !found {
			return nil, false, err
		}
		text = append(text, bytes...)
	}
	return text, digest(text) == head.SHA256, nil
}

func hang(call *latchwork.Invocation, caption Caption) (Hung, error) {
	text := []byte(caption.Text)
	if len(text) == 0 {
		return Hung{}, latchwork.Fail(latchwork.InvalidInput, "the caption of %s is empty", caption.Object)
	}
	head := Head{Object: caption.Object, SHA256: digest(text), Hung: time.Now().Unix()}
	for ; len(text) > 0; head.Parts++ {
		size := min(partBytes, len(text))
		if err := latchwork.KVSet(partKey(call.ExternalKey, head.Parts), text[:size]); err != nil {
			if head.Parts > 0 {
				err = applied(err, latchwork.AppliedUnknown)
			}
			return Hung{}, err
		}
		text = text[size:]
	}
	made, _ := json.Marshal(head) // Texts and integers alone: this cannot fail.
	if err := latchwork.KVSet(headKey(call.ExternalKey), made); err != nil {
		return Hung{}, applied(err, latchwork.AppliedUnknown)
	}
	return hung(call, head), nil
}

func hung(call *latchwork.Invocation, head Head) Hung {
	call.Changed(latchwork.Change{ResourceType: "caption", ResourceID: call.ExternalKey, Operation: "create", Version: head.SHA256})
	return Hung{call.ExternalKey, head}
}

// find looks at the head alone. Parts without a head are never read, and the next try writes them again.
func find(call *latchwork.Invocation, _ Caption) (latchwork.Verdict, error) {
	head, found, err := loadHead(call.ExternalKey)
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(hung(call, head)), nil
}

func takeDown(call *latchwork.Invocation, _ Caption, was Hung) error {
	key := call.ExternalKey
	head, found, err := loadHead(key)
	complete := false
	if err == nil && found {
		_, complete, err = loadText(key, head)
	}
	if err != nil {
		return applied(err, latchwork.AppliedNo)
	}
	if !complete || head != was.Head {
		return latchwork.Fail(latchwork.PolicyDenied, "the caption of %s was changed or removed", was.Object)
	}
	names := []string{headKey(key)} // The head goes first: from then on the parts are not read.
	for part := range head.Parts {
		names = append(names, partKey(key, part))
	}
	for i, name := range names {
		there, err := latchwork.KVDelete(name)
		if err == nil && !there {
			err = latchwork.Fail(latchwork.PolicyDenied, "the caption of %s was removed", was.Object)
		}
		if i > 0 {
			err = applied(err, latchwork.AppliedUnknown)
		}
		if err != nil {
			return err
		}
	}
	call.Changed(latchwork.Change{ResourceType: "caption", ResourceID: key, Operation: "delete"})
	return nil
}

func read(_ *latchwork.Invocation, question struct {
	Caption string `json:"caption"`
}) (Caption, error) {
	head, found, err := loadHead(question.Caption)
	if err == nil && !found {
		err = latchwork.Fail(latchwork.MissingRequiredContext, "there is no caption %s", question.Caption)
	}
	if err != nil {
		return Caption{}, err
	}
	text, complete, err := loadText(question.Caption, head)
	if err == nil && !complete {
		err = latchwork.Fail(latchwork.MissingRequiredContext, "caption %s is incomplete", question.Caption)
	}
	if err != nil {
		return Caption{}, err
	}
	return Caption{Object: head.Object, Text: string(text)}, nil
}

func main() {}
