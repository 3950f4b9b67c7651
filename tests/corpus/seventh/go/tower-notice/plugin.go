package main

import (
	"encoding/json"
	"strings"

	"latchwork"
)

type Notice struct {
	Hall string `json:"hall"`
	Text string `json:"text"`
}

type Posted struct {
	ID   string `json:"id"`
	Hall string `json:"hall"`
}

type Which struct {
	ID string `json:"id"`
}

func init() {
	latchwork.Tool("Tower.Post", latchwork.Spec{
		Description: "Posts a notice and puts it on the board of a hall.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, post).Reconcile(find)
	latchwork.Tool("Tower.Show", latchwork.Spec{Description: "Shows a posted notice."}, show)
}

func post(call *latchwork.Invocation, notice Notice) (Posted, error) {
	if strings.TrimSpace(notice.Hall) == "" || len(notice.Hall) > 40 || len(notice.Text) > 4000 {
		return Posted{}, latchwork.Fail(latchwork.InvalidInput, "a notice needs a hall and at most 4000 bytes of text")
	}
	text, err := json.Marshal(notice)
	if err != nil {
		return Posted{}, err
	}
	if err := latchwork.KVSet("notice/"+call.ExternalKey, text); err != nil {
		return Posted{}, err
	}
	if err := latchwork.KVSet("board/"+call.ExternalKey, []byte(notice.Hall)); err != nil {
		return Posted{}, latchwork.Fail(latchwork.TransientDBLock, "the board of %s is busy: %w", notice.Hall, err)
	}
	return posted(call, notice.Hall), nil
}

func find(call *latchwork.Invocation, notice Notice) (latchwork.Verdict, error) {
	_, written, err := latchwork.KVGet("notice/" + call.ExternalKey)
	if err != nil {
		return latchwork.Unknown, err
	}
	_, listed, err := latchwork.KVGet("board/" + call.ExternalKey)
	switch {
	case err != nil:
		return latchwork.Unknown, err
	case written && listed:
		return latchwork.Happened(posted(call, notice.Hall)), nil
	case !written && !listed:
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Unknown, nil
}

func posted(call *latchwork.Invocation, hall string) Posted {
	call.Changed(latchwork.Change{ResourceType: "notice", ResourceID: call.ExternalKey, Operation: "create"})
	return Posted{ID: call.ExternalKey, Hall: hall}
}

func show(_ *latchwork.Invocation, which Which) (Notice, error) {
	text, found, err := latchwork.KVGet("notice/" + which.ID)
	if err != nil {
		return Notice{}, err
	}
	if !found {
		return Notice{}, latchwork.Fail(latchwork.InvalidInput, "there is no notice %s", which.ID)
	}
	var notice Notice
	if err := json.Unmarshal(text, &notice); err != nil {
		return Notice{}, latchwork.Fail(latchwork.DependencyUnavailable, "notice %s: %w", which.ID, err)
	}
	return notice, nil
}

// main is empty: the host calls the operators.
func main() {}
