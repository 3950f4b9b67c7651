// Package main counts the words of a manuscript of the archive. A request names the manuscript by path and SHA-256, as the
// catalogue prints them.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"sort"
	"strings"
	"unicode"

	"latchwork"
)

type Manuscript struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Top    int    `json:"top,omitempty"`
}

type Fetched struct {
	Text     string `json:"text"`
	Language string `json:"language"`
}

type Word struct {
	Word  string `json:"word"`
	Count int    `json:"count"`
}

type Counted struct {
	Path     string `json:"path"`
	Language string `json:"language"`
	Words    int    `json:"words"`
	Distinct int    `json:"distinct"`
	Top      []Word `json:"top"`
}

const usualTop = 5

func init() {
	latchwork.Step("Manuscript.Count", latchwork.Spec{
		Description: "Counts the words of a manuscript with a known digest.",
		// The archive is outside, but the digest of the input fixes what it may answer.
		Determinism: latchwork.Pure,
	}, count)
}

func count(_ latchwork.Context, manuscript Manuscript) (Counted, error) {
	absent := latchwork.Fail(latchwork.MissingRequiredContext, "the archive has no text %s with this digest", manuscript.Path)
	fetched, err := latchwork.Call[Fetched]("Archive.Fetch", map[string]string{"path": manuscript.Path})
	if err != nil {
		return Counted{}, absent
	}
	sum := sha256.Sum256([]byte(fetched.Text))
	if hex.EncodeToString(sum[:]) != strings.ToLower(manuscript.SHA256) {
		return Counted{}, absent
	}

	words := strings.FieldsFunc(strings.ToLower(fetched.Text), func(r rune) bool {
		return !unicode.IsLetter(r) && r != '\''
	})
	counts := map[string]int{}
	for _, word := range words {
		counts[word]++
	}
	ranked := make([]Word, 0, len(counts))
	for word, n := range counts {
		ranked = append(ranked, Word{word, n})
	}
	sort.Slice(ranked, func(i, k int) bool {
		if ranked[i].Count != ranked[k].Count {
			return ranked[i].Count > ranked[k].Count
		}
		return ranked[i].Word < ranked[k].Word
	})

	top := manuscript.Top
	if top <= 0 {
		top = usualTop
	}
	return Counted{
		Path:     manuscript.Path,
		Language: fetched.Language,
		Words:    len(words),
		Distinct: len(counts),
		Top:      ranked[:min(top, len(ranked))],
	}, nil
}

// main is empty: the host calls the operators.
func main() {}
