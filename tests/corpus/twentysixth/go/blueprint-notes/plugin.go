// Package main collects the notes of a drawing. The request has the hash of the drawing, so the notes follow from the
// request alone: any other content is refused.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"latchwork"
)

type Request struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
}

type Path struct {
	File string `json:"file"`
}

type Content struct {
	Text string `json:"text"`
}

type Notes struct {
	Lines  int      `json:"lines"`
	Notes  []string `json:"notes"`
	Layers []string `json:"layers"`
}

func init() {
	latchwork.Step("Blueprint.Notes", latchwork.Spec{
		Description: "Collects the notes of one exact drawing.",
		Determinism: latchwork.Pure,
	}, collect)
}

func collect(_ latchwork.Context, request Request) (Notes, error) {
	wanted := strings.ToLower(request.SHA256)
	if raw, err := hex.DecodeString(wanted); err != nil || len(raw) != sha256.Size {
		return Notes{}, latchwork.Fail(latchwork.InvalidInput, "the hash of the drawing is not a SHA-256")
	}
	content, err := latchwork.Call[Content]("Drawing.Read", Path{request.File})
	sum := sha256.Sum256([]byte(content.Text))
	if err != nil || hex.EncodeToString(sum[:]) != wanted {
		return Notes{}, latchwork.Fail(latchwork.DependencyUnavailable, "%s cannot be read with the hash %s", request.File, wanted)
	}

	notes := Notes{Notes: []string{}, Layers: []string{}}
	layers := map[string]bool{}
	for line := range strings.Lines(content.Text) {
		notes.Lines++
		line = strings.TrimSpace(line)
		if note, is := strings.CutPrefix(line, "NOTE "); is {
			notes.Notes = append(notes.Notes, note)
		}
		if layer, is := strings.CutPrefix(line, "LAYER "); is {
			layers[layer] = true
		}
	}
	for layer := range layers {
		notes.Layers = append(notes.Layers, layer)
	}
	slices.Sort(notes.Layers)
	return notes, nil
}

func main() {}
