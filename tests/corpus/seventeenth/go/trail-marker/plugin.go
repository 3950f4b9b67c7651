// Command trail-marker keeps the markers that a trail crew has set.
package main

import (
	"fmt"

	"latchwork"
)

type Marker struct {
	Trail string `json:"trail"`
	// Metre is the distance from the start of the trail.
	Metre int    `json:"metre"`
	Text  string `json:"text"`
}

type Placed struct {
	Marker string `json:"marker"`
	Line   string `json:"line"`
}

func init() {
	latchwork.Tool("Marker.Place", latchwork.Spec{
		Description: "Keeps a marker of a trail.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, place).Reconcile(find).Verify(check)
}

// line returns what the register says about a marker.
func line(marker Marker) string {
	return fmt.Sprintf("%s, %d.%03d km: %s", marker.Trail, marker.Metre/1000, marker.Metre%1000, marker.Text)
}

func place(call *latchwork.Invocation, marker Marker) (Placed, error) {
	switch {
	case marker.Trail == "" || len(marker.Trail) > 80:
		return Placed{}, latchwork.Fail(latchwork.InvalidInput, "the trail needs a name of 1 to 80 bytes")
	case marker.Metre < 0 || marker.Metre > 900000:
		return Placed{}, latchwork.Fail(latchwork.InvalidInput, "no trail has a metre %d", marker.Metre)
	case marker.Text == "" || len(marker.Text) > 200:
		return Placed{}, latchwork.Fail(latchwork.InvalidInput, "the marker needs a text of 1 to 200 bytes")
	}
	text := line(marker)
	if err := latchwork.KVSet(call.ExternalKey, []byte(text)); err != nil {
		return Placed{}, err
	}
	return placed(call, text), nil
}

func placed(call *latchwork.Invocation, text string) Placed {
	call.Changed(latchwork.Change{
		ResourceType: "marker", ResourceID: call.ExternalKey, Operation: "create", Version: text,
	})
	return Placed{call.ExternalKey, text}
}

// find is called after a crash and looks for the marker of the call.
func find(call *latchwork.Invocation, _ Marker) (latchwork.Verdict, error) {
	text, found, err := latchwork.KVGet(call.ExternalKey)
	switch {
	case err != nil:
		return latchwork.Unknown, err
	case !found:
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(placed(call, string(text))), nil
}

// check is called when a job is resumed and compares the marker with the record.
func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(change.ResourceID)
	if err != nil || !found {
		return "the marker is missing", nil
	}
	if string(text) != change.Version {
		return "the marker has another text", nil
	}
	return "", nil
}

// main is empty: the host calls the operators.
func main() {}
