package main

import (
	"bytes"

	"latchwork"
)

type Menu struct {
	Board string `json:"board"`
	Text  string `json:"text"`
}

type Shown struct {
	Board string `json:"board"`
}

type Board struct {
	Board string `json:"board"`
}

type Text struct {
	Text string `json:"text"`
}

func init() {
	latchwork.Tool("Menu.Write", latchwork.Spec{
		Description: "Writes the menu on a board of the canteen.",
		Input: latchwork.Schema(`{"type":"object","required":["board","text"],"additionalProperties":false,"properties":{
			"board":{"type":"string","pattern":"^[a-z]{1,20}$"},"text":{"type":"string","minLength":1,"maxLength":4000}}}`),
		Output: latchwork.Schema(`{"type":"object","required":["board"],"additionalProperties":false,"properties":{
			"board":{"type":"string"}}}`),
		Effects: []latchwork.Effect{latchwork.InternalWrite},
	}, write).Compensate(wipe)
	latchwork.Tool("Menu.Read", latchwork.Spec{
		Description: "Reads the menu on a board of the canteen.",
		Input: latchwork.Schema(`{"type":"object","required":["board"],"additionalProperties":false,"properties":{
			"board":{"type":"string","pattern":"^[a-z]{1,20}$"}}}`),
		Output: latchwork.Schema(`{"type":"object","required":["text"],"additionalProperties":false,"properties":{
			"text":{"type":"string"}}}`),
	}, read)
}

func board(name string) string { return "board/" + name }

// earlier names the copy of the board as it was before the call.
func earlier(key string) string { return "earlier/" + key }

// chalk is the content of a board: the key of the call that wrote it, and the menu.
func chalk(key, text string) []byte { return []byte(key + "\n" + text) }

func write(call *latchwork.Invocation, menu Menu) (Shown, error) {
	before, _, err := latchwork.KVGet(board(menu.Board))
	if err != nil {
		return Shown{}, err
	}
	if err := latchwork.KVSet(earlier(call.ExternalKey), before); err != nil {
		return Shown{}, err
	}
	if err := latchwork.KVSet(board(menu.Board), chalk(call.ExternalKey, menu.Text)); err != nil {
		return Shown{}, begun(err)
	}
	call.Changed(latchwork.Change{ResourceType: "board", ResourceID: menu.Board, Operation: "set", Version: call.ExternalKey})
	return Shown{menu.Board}, nil
}

func wipe(call *latchwork.Invocation, menu Menu, _ Shown) error {
	now, found, err := latchwork.KVGet(board(menu.Board))
	if err != nil {
		return err
	}
	if !found || !bytes.Equal(now, chalk(call.ExternalKey, menu.Text)) {
		return latchwork.Fail(latchwork.PolicyDenied, "board %s has another menu by now", menu.Board)
	}
	before, kept, err := latchwork.KVGet(earlier(call.ExternalKey))
	if err != nil {
		return err
	}
	if !kept {
		return latchwork.Fail(latchwork.PolicyDenied, "the earlier menu of board %s was not kept", menu.Board)
	}
	if err := latchwork.KVSet(board(menu.Board), before); err != nil {
		return begun(err)
	}
	if _, err := latchwork.KVDelete(earlier(call.ExternalKey)); err != nil {
		return begun(err)
	}
	call.Changed(latchwork.Change{ResourceType: "board", ResourceID: menu.Board, Operation: "set"})
	return nil
}

// begun marks an error after which a board may be half done.
func begun(err error) error {
	if failure, ok := err.(*latchwork.Failure); ok {
		failure.Applied = latchwork.AppliedUnknown
	}
	return err
}

func read(_ *latchwork.Invocation, asked Board) (Text, error) {
	now, found, err := latchwork.KVGet(board(asked.Board))
	if err != nil {
		return Text{}, err
	}
	if !found {
		return Text{}, latchwork.Fail(latchwork.InvalidInput, "board %s is not in use", asked.Board)
	}
	_, text, _ := bytes.Cut(now, []byte("\n"))
	return Text{string(text)}, nil
}

func main() {}
