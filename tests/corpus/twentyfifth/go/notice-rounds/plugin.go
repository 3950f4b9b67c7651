package main

import (
	"encoding/json"
	"errors"

	"latchwork"
)

// Round is a notice of a housing society for some of its stairs.
type Round struct {
	Notice string   `json:"notice"`
	Text   string   `json:"text"`
	Stairs []string `json:"stairs"`
}

// Sent lists the stairs that got the notice, and those without a mailbox.
type Sent struct {
	Reached []string `json:"reached"`
	Missing []string `json:"missing"`
	Filed   string   `json:"filed"`
}

type question struct {
	Stair string `json:"stair"`
}

type mailbox struct {
	Address string `json:"address"`
}

type letter struct {
	Stair   string `json:"stair"`
	Address string `json:"address"`
	Text    string `json:"text"`
}

type record struct {
	Notice string   `json:"notice"`
	Stairs []string `json:"stairs"`
}

type filed struct {
	Sheet string `json:"sheet"`
}

func init() {
	latchwork.Step("Notice.Round", latchwork.Spec{
		Description: "Brings a notice to the stairs of a house and files it.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
		Determinism: latchwork.External,
	}, round)
}

func round(_ latchwork.Context, input Round) (Sent, error) {
	seen := map[string]bool{}
	for _, stair := range input.Stairs {
		if seen[stair] {
			return Sent{}, latchwork.Fail(latchwork.InvalidInput, "stair %q is named twice", stair)
		}
		seen[stair] = true
	}
	sent := Sent{Reached: []string{}, Missing: []string{}}
	for _, stair := range input.Stairs {
		box, err := latchwork.Call[mailbox]("House.Mailbox", question{stair})
		var failure *latchwork.Failure
		if errors.As(err, &failure) && failure.Code == latchwork.InvalidInput {
			sent.Missing = append(sent.Missing, stair)
			continue
		}
		if err != nil {
			return Sent{}, err
		}
		// A stair gets a notice once.
		if _, err := latchwork.Call[json.RawMessage]("Post.Deliver", letter{stair, box.Address, input.Text}, key("deliver", input.Notice, stair, box.Address, input.Text)); err != nil {
			return Sent{}, err
		}
		sent.Reached = append(sent.Reached, stair)
	}
	if len(sent.Reached) == 0 {
		return Sent{}, latchwork.Fail(latchwork.PolicyDenied, "no stair has a mailbox")
	}
	sheet, err := latchwork.Call[filed]("Binder.File", record{input.Notice, sent.Reached})
	if err != nil {
		return Sent{}, err
	}
	sent.Filed = sheet.Sheet
	return sent, nil
}

func key(parts ...string) string {
	text, _ := json.Marshal(parts)
	return string(text)
}

func main() {}
