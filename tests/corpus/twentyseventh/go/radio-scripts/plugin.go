// Package main files the scripts of a radio station. The cue of a script is what the control desk lists; the text is kept
// beside it.
package main

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"latchwork"
)

type Script struct {
	Show  string `json:"show"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

type Filed struct {
	Script  string `json:"script"`
	Seconds int    `json:"seconds"`
}

type Cue struct {
	Show    string `json:"show"`
	Title   string `json:"title"`
	Seconds int    `json:"seconds"`
}

type Asked struct {
	Script string `json:"script"`
}

const (
	// An entry of the map has 64 KiB. Some room is left.
	longestText = 60_000
	longestName = 300
	// A presenter reads about fifteen characters in a second.
	perSecond = 15
)

func init() {
	latchwork.Tool("Script.File", latchwork.Spec{
		Description: "Files a script with its cue.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, file)
	latchwork.Tool("Script.Cue", latchwork.Spec{
		Description: "Shows the cue of a script.",
	}, cue)
}

func file(call *latchwork.Invocation, script Script) (Filed, error) {
	length := utf8.RuneCountInString(script.Text)
	switch {
	case strings.TrimSpace(script.Text) == "":
		return Filed{}, latchwork.Fail(latchwork.InvalidInput, "the script is empty")
	case utf8.RuneCountInString(script.Show) > longestName || utf8.RuneCountInString(script.Title) > longestName:
		return Filed{}, latchwork.Fail(latchwork.InvalidInput, "show or title is too long")
	case length > longestText:
		return Filed{}, latchwork.Fail(latchwork.InvalidInput, "a script has at most %d characters", longestText)
	}

	seconds := (length + perSecond - 1) / perSecond
	entry, err := json.Marshal(Cue{script.Show, script.Title, seconds})
	if err != nil {
		return Filed{}, latchwork.Fail(latchwork.InvalidInput, "the cue cannot be kept: %w", err)
	}
	if err := latchwork.KVSet("cue/"+call.ExternalKey, entry); err != nil {
		return Filed{}, err
	}
	if err := latchwork.KVSet("text/"+call.ExternalKey, []byte(script.Text)); err != nil {
		return Filed{}, err
	}
	call.Changed(latchwork.Change{ResourceType: "script", ResourceID: call.ExternalKey, Operation: "create"})
	return Filed{call.ExternalKey, seconds}, nil
}

func cue(_ *latchwork.Invocation, asked Asked) (Cue, error) {
	entry, found, err := latchwork.KVGet("cue/" + asked.Script)
	if err != nil {
		return Cue{}, err
	}
	if !found {
		return Cue{}, latchwork.Fail(latchwork.MissingRequiredContext, "there is no script %s", asked.Script)
	}
	var cue Cue
	if err := json.Unmarshal(entry, &cue); err != nil {
		return Cue{}, latchwork.Fail(latchwork.MissingRequiredContext, "the cue of %s cannot be read: %w", asked.Script, err)
	}
	return cue, nil
}

// main is empty: the host calls the operators.
func main() {}
