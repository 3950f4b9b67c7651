// The digital door signs of an office building. Each room has one entry: the text of its sign and its arrow.
package main

import (
	"encoding/json"
	"strings"

	"latchwork"
)

type order struct {
	Room  string `json:"room"`
	Text  string `json:"text"`
	Arrow string `json:"arrow,omitempty"`
}

type sign struct {
	Text  string `json:"text"`
	Arrow string `json:"arrow,omitempty"`
}

type shown struct {
	Room    string  `json:"room"`
	Earlier *string `json:"earlier"` // the text before, or null
}

const input = `{"type": "object", "required": ["room", "text"], "additionalProperties": false, "properties": {
	"room": {"type": "string", "pattern": "^[A-Z][0-9]{1,3}$"},
	"text": {"type": "string", "maxLength": 300},
	"arrow": {"enum": ["left", "right", "up", "down"]}}}`

func init() {
	latchwork.Tool("Sign.Show", latchwork.Spec{
		Description: "Shows a text on the door sign of a room.",
		Input:       json.RawMessage(input),
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, show).Verify(check).Compensate(restore)
}

// read returns the sign of a room, or nil if the room has none.
func read(room string) (*sign, error) {
	value, found, err := latchwork.KVGet("sign/" + room)
	if err != nil || !found {
		return nil, err
	}
	var one sign
	if err := json.Unmarshal(value, &one); err != nil {
		return nil, latchwork.Fail(latchwork.DependencyUnavailable, "the sign of %s cannot be read: %w", room, err)
	}
	return &one, nil
}

func write(room string, one sign) error {
	value, _ := json.Marshal(one)
	return latchwork.KVSet("sign/"+room, value)
}

func changed(call *latchwork.Invocation, room, operation, text string) {
	call.Changed(latchwork.Change{ResourceType: "sign", ResourceID: room, Operation: operation, Version: text})
}

func show(call *latchwork.Invocation, in order) (shown, error) {
	if strings.TrimSpace(in.Text) == "" {
		return shown{}, latchwork.Fail(latchwork.InvalidInput, "the sign of %s gets no text", in.Room)
	}
	out := shown{Room: in.Room}
	before, err := read(in.Room)
	if err != nil {
		failure := latchwork.Fail(latchwork.DependencyUnavailable, "the present sign is not known: %w", err)
		failure.Applied = latchwork.AppliedNo
		return shown{}, failure
	}
	if before != nil {
		out.Earlier = &before.Text
	}
	if err := write(in.Room, sign{in.Text, in.Arrow}); err != nil {
		return shown{}, err
	}
	changed(call, in.Room, "set", in.Text)
	return out, nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	now, err := read(change.ResourceID)
	if err != nil || now != nil && now.Text == change.Version {
		return "", err
	}
	return "the sign is missing or shows another text", nil
}

// restore puts the earlier text back, or removes the sign if the room had none.
func restore(call *latchwork.Invocation, in order, out shown) error {
	now, err := read(in.Room)
	if err != nil {
		return latchwork.Fail(latchwork.PolicyDenied, "the present sign cannot be read: %w", err)
	}
	if now == nil || *now != (sign{in.Text, in.Arrow}) {
		return latchwork.Fail(latchwork.PolicyDenied, "the sign was changed since")
	}
	if out.Earlier != nil {
		now.Text = *out.Earlier
		if err := write(in.Room, *now); err != nil {
			return err
		}
		changed(call, in.Room, "set", now.Text)
		return nil
	}
	existed, err := latchwork.KVDelete("sign/" + in.Room)
	if err != nil {
		return err
	}
	if !existed {
		return latchwork.Fail(latchwork.PolicyDenied, "the sign was removed")
	}
	changed(call, in.Room, "delete", "")
	return nil
}

// main is empty: the host calls the operators.
func main() {}
