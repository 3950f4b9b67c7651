package main

import (
	"fmt"
	"strings"

	"latchwork"
)

type Box struct {
	Title string   `json:"title"`
	Shelf string   `json:"shelf"`
	Files []string `json:"files"`
}

type Stored struct {
	Label string `json:"label"`
	Files int    `json:"files"`
}

func init() {
	latchwork.Tool("Box.Store", latchwork.Spec{
		Description: "Stores the label and the inventory of an archive box.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, store).Verify(check)
}

func store(call *latchwork.Invocation, box Box) (Stored, error) {
	if box.Title == "" || box.Shelf == "" {
		return Stored{}, latchwork.Fail(latchwork.InvalidInput, "a box needs a title and a shelf")
	}
	for i, file := range box.Files {
		if strings.Contains(file, "\n") {
			return Stored{}, latchwork.Fail(latchwork.InvalidInput, "file %d has a line break", i+1)
		}
	}

	label := "label/" + call.ExternalKey
	if err := put(call, label, fmt.Sprintf("%s (%s)", box.Title, box.Shelf)); err != nil {
		return Stored{}, err
	}
	inventory := "inventory/" + call.ExternalKey
	if err := put(call, inventory, strings.Join(box.Files, "\n")); err != nil {
		return Stored{}, fmt.Errorf("inventory of %s: %w", box.Title, err)
	}
	return Stored{label, len(box.Files)}, nil
}

func put(call *latchwork.Invocation, entry, text string) error {
	if err := latchwork.KVSet(entry, []byte(text)); err != nil {
		return err
	}
	call.Changed(latchwork.Change{ResourceType: "entry", ResourceID: entry, Operation: "create", Version: text})
	return nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the entry is missing", nil
	case string(text) != change.Version:
		return "the entry was changed", nil
	}
	return "", nil
}

func main() {}
