package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"latchwork"
)

// Visit is a visit to the hives of an apiary.
type Visit struct {
	Apiary string `json:"apiary"`
	Hives  []Hive `json:"hives"`
}

// Hive is a hive as the keeper found it.
type Hive struct {
	Hive   string `json:"hive"`
	Frames int    `json:"frames"`
	Notes  string `json:"notes,omitempty"`
}

// Written is the answer to the keeper.
type Written struct {
	Page   string `json:"page"`
	Hives  int    `json:"hives"`
	Frames int    `json:"frames"`
}

// Question asks for a page.
type Question struct {
	Page string `json:"page"`
}

// Page is a page of the diary.
type Page struct {
	Visit   Visit     `json:"visit"`
	Written time.Time `json:"written"`
}

func init() {
	latchwork.Tool("Diary.Write", latchwork.Spec{
		Description: "Writes a visit to the hives into the diary.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
		Input: latchwork.Schema(`{"type":"object","required":["apiary","hives"],"additionalProperties":false,"properties":{
			"apiary":{"type":"string","minLength":1,"maxLength":100},
			"hives":{"type":"array","minItems":1,"maxItems":200,"items":{"type":"object","required":["hive","frames"],"additionalProperties":false,
			"properties":{"hive":{"type":"string","minLength":1,"maxLength":40},"frames":{"type":"integer","minimum":0,"maximum":60},
			"notes":{"type":"string","maxLength":2000}}}}}}`),
	}, write).Reconcile(find).Verify(check).Compensate(tearOut)
	latchwork.Tool("Diary.Read", latchwork.Spec{
		Description: "Shows a page of the diary.",
		Input: latchwork.Schema(`{"type":"object","required":["page"],"additionalProperties":false,"properties":{
			"page":{"type":"string","pattern":"^[A-Za-z0-9_:/~-]{1,128}$"}}}`),
	}, read)
}

func write(call *latchwork.Invocation, visit Visit) (Written, error) {
	text, err := json.Marshal(Page{visit, time.Now().UTC()})
	if err != nil {
		return Written{}, err
	}
	if len(text) > 65536 {
		return Written{}, latchwork.Fail(latchwork.InvalidInput, "a page takes 65536 bytes, and the visit has %d", len(text))
	}
	if err := latchwork.KVSet(call.ExternalKey, text); err != nil {
		return Written{}, err
	}
	return written(call, visit, text), nil
}

func written(call *latchwork.Invocation, visit Visit, text []byte) Written {
	call.Changed(latchwork.Change{ResourceType: "page", ResourceID: call.ExternalKey, Operation: "create", Version: version(text)})
	frames := 0
	for _, hive := range visit.Hives {
		frames += hive.Frames
	}
	return Written{call.ExternalKey, len(visit.Hives), frames}
}

func version(text []byte) string {
	sum := fnv.New64a()
	sum.Write(text)
	return fmt.Sprintf("%016x", sum.Sum64())
}

// find takes the answer from the page, whose time is that of the call.
func find(call *latchwork.Invocation, visit Visit) (latchwork.Verdict, error) {
	text, found, err := latchwork.KVGet(call.ExternalKey)
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(written(call, visit, text)), nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the page is missing", nil
	case version(text) != change.Version:
		return "the page has another text", nil
	}
	return "", nil
}

func tearOut(call *latchwork.Invocation, visit Visit, _ Written) error {
	text, found, err := latchwork.KVGet(call.ExternalKey)
	if err != nil {
		// Nothing is torn out yet.
		var failure *latchwork.Failure
		if errors.As(err, &failure) {
			failure.Applied = latchwork.AppliedNo
		}
		return err
	}
	var page Page
	if !found || json.Unmarshal(text, &page) != nil {
		return latchwork.Fail(latchwork.PolicyDenied, "the page was removed")
	}
	same, err := json.Marshal(Page{visit, page.Written})
	if err != nil {
		return err
	}
	if string(same) != string(text) {
		return latchwork.Fail(latchwork.PolicyDenied, "the page was changed")
	}
	was, err := latchwork.KVDelete(call.ExternalKey)
	if err != nil {
		return err
	}
	if !was {
		return latchwork.Fail(latchwork.PolicyDenied, "the page was removed")
	}
	call.Changed(latchwork.Change{ResourceType: "page", ResourceID: call.ExternalKey, Operation: "delete"})
	return nil
}

func read(_ *latchwork.Invocation, asked Question) (Page, error) {
	text, found, err := latchwork.KVGet(asked.Page)
	if err != nil {
		return Page{}, err
	}
	if !found {
		return Page{}, latchwork.Fail(latchwork.InvalidInput, "the diary has no page %s", asked.Page)
	}
	var page Page
	if err := json.Unmarshal(text, &page); err != nil {
		return Page{}, latchwork.Fail(latchwork.DependencyUnavailable, "the page cannot be read: %w", err)
	}
	return page, nil
}

func main() {}
