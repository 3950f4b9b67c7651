// Fingerprints of weaving drafts, by which the mill finds drafts that it has woven before.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"latchwork"
)

type Selvedge struct {
	Ends   int    `json:"ends"`
	Colour string `json:"colour"`
}

type Thread struct {
	Colour string `json:"colour"`
	Ends   int    `json:"ends"`
}

type Draft struct {
	Name     string    `json:"name"`
	Shafts   int       `json:"shafts"`
	Sett     float64   `json:"sett"`
	Warp     []Thread  `json:"warp"`
	Weft     []Thread  `json:"weft"`
	Selvedge *Selvedge `json:"selvedge,omitempty"`
}

type Fingerprint struct {
	Name   string `json:"name"`
	Ends   int    `json:"ends"`
	Digest string `json:"digest"`
}

type Drafts struct {
	Drafts []Draft `json:"drafts"`
}

type Fingerprints struct {
	Fingerprints []Fingerprint `json:"fingerprints"`
	Groups       int           `json:"groups"`
}

func init() {
	latchwork.Step("Draft.Fingerprint", latchwork.Spec{
		Description: "Makes fingerprints of weaving drafts.",
		Determinism: latchwork.Pure,
	}, fingerprint)
}

// folded joins neighbouring threads of one colour, because both are woven in the same way.
func folded(threads []Thread) []Thread {
	made := []Thread{}
	for _, thread := range threads {
		thread.Colour = strings.ToLower(strings.TrimSpace(thread.Colour))
		if last := len(made) - 1; last >= 0 && made[last].Colour == thread.Colour {
			made[last].Ends += thread.Ends
			continue
		}
		made = append(made, thread)
	}
	return made
}

// normal leaves out what does not matter for the cloth.
func normal(draft Draft) Draft {
	draft.Name = ""
	draft.Warp, draft.Weft = folded(draft.Warp), folded(draft.Weft)
	return draft
}

// digest covers every field of the draft, also fields that are added later.
func digest(draft Draft) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%+v", normal(draft)))
	return hex.EncodeToString(sum[:12])
}

func fingerprint(_ latchwork.Context, drafts Drafts) (Fingerprints, error) {
	made := Fingerprints{Fingerprints: []Fingerprint{}}
	digests := []string{}
	for i, draft := range drafts.Drafts {
		if draft.Shafts < 2 || len(draft.Warp) == 0 || len(draft.Weft) == 0 {
			return Fingerprints{}, latchwork.Fail(latchwork.InvalidInput, "draft %d (%s) cannot be woven", i+1, draft.Name)
		}
		ends := 0
		for _, thread := range draft.Warp {
			ends += thread.Ends
		}
		if draft.Selvedge != nil {
			ends += 2 * draft.Selvedge.Ends
		}
		one := Fingerprint{Name: draft.Name, Ends: ends, Digest: digest(draft)}
		made.Fingerprints = append(made.Fingerprints, one)
		digests = append(digests, one.Digest)
	}
	slices.Sort(digests)
	made.Groups = len(slices.Compact(digests))
	return made, nil
}

func main() {}
