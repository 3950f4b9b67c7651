package main

import (
	"encoding/json"
	"strings"

	"latchwork"
)

type Mural struct {
	Wall   string `json:"wall"`
	Artist string `json:"artist"`
	Width  int    `json:"width_cm"`
	Height int    `json:"height_cm"`
}

type Entry struct {
	Entry string  `json:"entry"`
	Area  float64 `json:"area_m2"`
}

func init() {
	latchwork.Tool("Mural.Register", latchwork.Spec{
		Description: "Enters a mural into the registry of the town.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, register).Verify(check).Compensate(strike)
}

func nameOf(call *latchwork.Invocation) string { return "mural " + call.ExternalKey }

// record returns the text of the entry of a mural. The fields always have the same order.
func record(mural Mural) (string, error) {
	text, err := json.Marshal(mural)
	return string(text), err
}

func register(call *latchwork.Invocation, mural Mural) (Entry, error) {
	if strings.TrimSpace(mural.Wall) == "" || strings.TrimSpace(mural.Artist) == "" {
		return Entry{}, latchwork.Fail(latchwork.InvalidInput, "wall and artist are needed")
	}
	if mural.Width < 50 || mural.Height < 50 || mural.Width > 20000 || mural.Height > 20000 {
		return Entry{}, latchwork.Fail(latchwork.InvalidInput, "a mural measures 50 to 20000 cm")
	}
	text, err := record(mural)
	if err != nil {
		return Entry{}, err
	}
	if err := latchwork.KVSet(nameOf(call), []byte(text)); err != nil {
		return Entry{}, err
	}
	call.Changed(latchwork.Change{ResourceType: "mural", ResourceID: nameOf(call), Operation: "create", Version: text})
	return Entry{nameOf(call), float64(mural.Width*mural.Height) / 10000}, nil
}

// check is called when a job is resumed. It compares the entry with its recorded text.
func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(change.ResourceID)
	if err != nil || !found {
		return "the mural is not in the registry", nil
	}
	if string(text) != change.Version {
		return "the entry of the mural has another text", nil
	}
	return "", nil
}

// strike takes the mural out of the registry, unless the entry was changed.
func strike(call *latchwork.Invocation, mural Mural, _ Entry) error {
	text, found, err := latchwork.KVGet(nameOf(call))
	if err != nil {
		return err
	}
	wanted, err := record(mural)
	if err != nil {
		return err
	}
	if !found || string(text) != wanted {
		return latchwork.Fail(latchwork.PolicyDenied, "the entry was changed or removed")
	}
	was, err := latchwork.KVDelete(nameOf(call))
	if err != nil {
		return err
	}
	if !was {
		return latchwork.Fail(latchwork.PolicyDenied, "the entry was removed")
	}
	call.Changed(latchwork.Change{ResourceType: "mural", ResourceID: nameOf(call), Operation: "delete"})
	return nil
}

// main is empty: the host calls the operators.
func main() {}
