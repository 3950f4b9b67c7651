// Charter-transcripts counts the words of a transcript in an archive. The request names the transcript by its SHA-256, so
// that it is always the same text that is counted.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"

	"latchwork"
)

const (
	most      = 12
	mostBytes = 60000
)

type Request struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

type Document struct {
	Text string `json:"text"`
}

type Word struct {
	Word  string `json:"word"`
	Count int    `json:"count"`
}

type Summary struct {
	Words    int    `json:"words"`
	Distinct int    `json:"distinct"`
	Frequent []Word `json:"frequent"`
}

func init() {
	latchwork.Step("Charter.Summarize", latchwork.Spec{
		Description: "Counts the words of a transcript that is named by its SHA-256.",
		// The archive is outside, but the input fixes the text that counts.
		Determinism: latchwork.Pure,
		Effects:     []latchwork.Effect{latchwork.ReadOnly},
		Input: latchwork.Schema(`{"type":"object","properties":{
			"path":{"type":"string","pattern":"^[a-z0-9/.-]{1,120}$"},
			"sha256":{"type":"string","pattern":"^[0-9a-f]{64}$"}},
			"required":["path","sha256"],"additionalProperties":false}`),
	}, summarize)
}

// fetch says nothing about what the archive answered: the failure follows from the request alone.
func fetch(request Request) (string, error) {
	document, err := latchwork.Call[Document]("Archive.Fetch", map[string]string{"path": request.Path})
	if err == nil {
		sum := sha256.Sum256([]byte(document.Text))
		if hex.EncodeToString(sum[:]) == request.SHA256 {
			return document.Text, nil
		}
	}
	return "", latchwork.Fail(latchwork.MissingRequiredContext, "the archive did not give the transcript %s with the digest %s", request.Path, request.SHA256)
}

func summarize(_ latchwork.Context, request Request) (Summary, error) {
	text, err := fetch(request)
	if err != nil {
		return Summary{}, err
	}
	if len(text) > mostBytes {
		return Summary{}, latchwork.Fail(latchwork.InvalidInput, "the transcript %s has more than %d bytes: split it", request.Path, mostBytes)
	}
	counts := make(map[string]int)
	total := 0
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' }) {
		counts[strings.ToLower(word)]++
		total++
	}
	words := make([]Word, 0, len(counts))
	for word, count := range counts {
		words = append(words, Word{word, count})
	}
	// By frequency, and words of one frequency by the alphabet.
	slices.SortFunc(words, func(a, b Word) int {
		if a.Count != b.Count {
			return b.Count - a.Count
		}
		return strings.Compare(a.Word, b.Word)
	})
	return Summary{Words: total, Distinct: len(words), Frequent: words[:min(most, len(words))]}, nil
}

func main() {}
