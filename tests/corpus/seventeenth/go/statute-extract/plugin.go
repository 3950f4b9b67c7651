// Command statute-extract takes one section out of the statutes of a club, in the version that was agreed.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"latchwork"
)

type Input struct {
	Path string `json:"path"`
	// SHA256 is the digest of the agreed version, in lower case.
	SHA256  string `json:"sha256"`
	Section int    `json:"section"`
}

type File struct {
	Text string `json:"text"`
}

type Section struct {
	Title      string   `json:"title"`
	Paragraphs []string `json:"paragraphs"`
	Words      int      `json:"words"`
}

func init() {
	latchwork.Step("Statute.Extract", latchwork.Spec{
		Description: "Takes one section out of the agreed version of the statutes.",
	}, extract)
}

func extract(_ latchwork.Context, in Input) (Section, error) {
	if len(in.SHA256) != 64 || strings.Trim(in.SHA256, "0123456789abcdef") != "" {
		return Section{}, latchwork.Fail(latchwork.InvalidInput, "the digest does not have 64 digits")
	}
	if in.Section < 1 {
		return Section{}, latchwork.Fail(latchwork.InvalidInput, "there is no section %d", in.Section)
	}
	file, err := latchwork.Call[File]("File.Read", map[string]string{"path": in.Path})
	if err != nil {
		return Section{}, err
	}
	sum := sha256.Sum256([]byte(file.Text))
	if hex.EncodeToString(sum[:]) != in.SHA256 {
		return Section{}, latchwork.Fail(latchwork.InvalidInput, "%s is not the agreed version", in.Path)
	}
	section, found := cut(file.Text, in.Section)
	if !found {
		return Section{}, latchwork.Fail(latchwork.MissingRequiredContext, "the statutes have no section %d", in.Section)
	}
	return section, nil
}

// cut returns the section with a number. Its heading is a line such as `§ 4 Membership fees`.
func cut(text string, number int) (section Section, found bool) {
	section.Paragraphs = []string{}
	heading := "§ " + strconv.Itoa(number) + " "
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, heading):
			section.Title, found = strings.TrimPrefix(line, heading), true
		case strings.HasPrefix(line, "§ ") && found:
			return section, true
		case found && line != "":
			section.Paragraphs = append(section.Paragraphs, line)
			section.Words += len(strings.Fields(line))
		}
	}
	return section, found
}

// main is empty: the host calls the operators.
func main() {}
