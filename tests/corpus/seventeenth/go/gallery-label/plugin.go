// Command gallery-label changes the labels on the walls of a gallery.
package main

import (
	"bytes"
	"encoding/json"

	"latchwork"
)

type Input struct {
	Wall  string `json:"wall"`
	Title string `json:"title"`
	Text  string `json:"text"`
	// Lender is named below the text. Most works have none.
	Lender string `json:"lender,omitempty"`
}

// Label is what a wall shows.
type Label struct {
	Title  string `json:"title"`
	Text   string `json:"text"`
	Lender string `json:"lender,omitempty"`
}

// Earlier is the label that was replaced.
type Earlier struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

type Hung struct {
	Wall    string   `json:"wall"`
	Earlier *Earlier `json:"earlier"`
}

func init() {
	latchwork.Tool("Label.Hang", latchwork.Spec{
		Description: "Hangs a label on a wall, in place of the label that hangs there.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, hang).Verify(check).Compensate(takeDown)
}

func written(in Input) ([]byte, error) { return json.Marshal(Label{in.Title, in.Text, in.Lender}) }

func changed(call *latchwork.Invocation, wall, operation string, label []byte) {
	call.Changed(latchwork.Change{
		ResourceType: "label", ResourceID: "wall/" + wall, Operation: operation, Version: string(label),
	})
}

func hang(call *latchwork.Invocation, in Input) (Hung, error) {
	if in.Wall == "" || len(in.Wall) > 60 || in.Title == "" {
		return Hung{}, latchwork.Fail(latchwork.InvalidInput, "a label needs a title, and a wall of 1 to 60 bytes")
	}
	label, err := written(in)
	if err != nil {
		return Hung{}, err
	}
	hung := Hung{Wall: in.Wall}
	before, found, err := latchwork.KVGet("wall/" + in.Wall)
	if err != nil {
		return Hung{}, err
	}
	if found {
		hung.Earlier = new(Earlier)
		if err := json.Unmarshal(before, hung.Earlier); err != nil {
			return Hung{}, latchwork.Fail(latchwork.MissingRequiredContext, "the present label cannot be read: %w", err)
		}
	}
	if err := latchwork.KVSet("wall/"+in.Wall, label); err != nil {
		return Hung{}, err
	}
	changed(call, in.Wall, "update", label)
	return hung, nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	label, found, err := latchwork.KVGet(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "no label hangs there", nil
	case string(label) != change.Version:
		return "another label hangs there", nil
	}
	return "", nil
}

// takeDown hangs the earlier label again, if the label of the call still hangs there.
func takeDown(call *latchwork.Invocation, in Input, hung Hung) error {
	label, err := written(in)
	if err != nil {
		return err
	}
	present, found, err := latchwork.KVGet("wall/" + in.Wall)
	if err != nil {
		return err
	}
	if !found || !bytes.Equal(present, label) {
		return latchwork.Fail(latchwork.PolicyDenied, "the label was changed or removed")
	}
	if hung.Earlier == nil {
		was, err := latchwork.KVDelete("wall/" + in.Wall)
		if err == nil && !was {
			err = latchwork.Fail(latchwork.PolicyDenied, "the label was removed")
		}
		if err == nil {
			changed(call, in.Wall, "delete", nil)
		}
		return err
	}
	earlier, err := json.Marshal(Label{Title: hung.Earlier.Title, Text: hung.Earlier.Text})
	if err != nil {
		return err
	}
	if err := latchwork.KVSet("wall/"+in.Wall, earlier); err != nil {
		return err
	}
	changed(call, in.Wall, "update", earlier)
	return nil
}

// main is empty: the host calls the operators.
func main() {}
