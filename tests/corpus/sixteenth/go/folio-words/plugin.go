// Command folio-words lists the most frequent words of a transcribed folio.
package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"

	"latchwork"
)

type Folio struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Most   int    `json:"most"`
}

type Word struct {
	Word  string `json:"word"`
	Times int    `json:"times"`
}

type Words struct {
	Total    int    `json:"total"`
	Distinct int    `json:"distinct"`
	Words    []Word `json:"words"`
}

func init() {
	latchwork.Step("Folio.Words", latchwork.Spec{
		Description: "Lists the most frequent words of a folio. The input names its SHA-256.",
		Determinism: latchwork.Pure,
	}, words)
}

func words(_ latchwork.Context, folio Folio) (Words, error) {
	if folio.Most < 1 || folio.Most > 200 {
		return Words{}, latchwork.Fail(latchwork.InvalidInput, "a list has 1 to 200 words, not %d", folio.Most)
	}
	file, err := latchwork.Call[struct {
		Text string `json:"text"`
	}]("File.Read", map[string]string{"path": folio.Path})
	if err != nil {
		return Words{}, err
	}
	sum := sha256.Sum256([]byte(file.Text))
	if !strings.EqualFold(hex.EncodeToString(sum[:]), folio.SHA256) {
		return Words{}, latchwork.Fail(latchwork.InvalidInput, "%s has not the SHA-256 %s", folio.Path, folio.SHA256)
	}
	if len(file.Text) > 60_000 {
		return Words{}, latchwork.Fail(latchwork.InvalidInput, "%s has more than 60000 bytes", folio.Path)
	}
	return count(file.Text, folio.Most), nil
}

func count(text string, most int) Words {
	times := map[string]int{}
	made := Words{Words: []Word{}}
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && r != '\''
	}) {
		times[word]++
		made.Total++
	}
	for word, n := range times {
		made.Words = append(made.Words, Word{word, n})
	}
	slices.SortFunc(made.Words, func(a, b Word) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), cmp.Compare(a.Word, b.Word))
	})
	made.Distinct = len(made.Words)
	made.Words = made.Words[:min(most, len(made.Words))]
	return made
}

// main is empty: the host calls the operators.
func main() {}
