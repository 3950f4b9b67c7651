// Command tartan-sett reads the sett of a tartan, such as "B24 W4 R12", and counts its threads.
package main

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"latchwork"
)

type Sett struct {
	Sett   string `json:"sett"`
	Mirror bool   `json:"mirror"`
}

type Stripe struct {
	Colour  string `json:"colour"`
	Threads int    `json:"threads"`
}

type Weave struct {
	Stripes []Stripe `json:"stripes"`
	Colours []Stripe `json:"colours"`
	Threads int      `json:"threads"`
}

// The usual letters. The key `palette` of the configuration adds letters or replaces their names.
var usual = map[string]string{"B": "blue", "G": "green", "K": "black", "R": "red", "W": "white", "Y": "yellow"}

func init() {
	latchwork.Tool("Tartan.Read", latchwork.Spec{
		Description: "Reads the sett of a tartan.",
		// Only the arguments and the configuration decide the answer.
		Determinism: latchwork.Pure,
	}, read)
}

func read(_ *latchwork.Invocation, sett Sett) (Weave, error) {
	palette := maps.Clone(usual)
	var own map[string]string
	if _, err := latchwork.Config("palette", &own); err != nil {
		return Weave{}, err
	}
	maps.Copy(palette, own)

	stripes := []Stripe{}
	unknown := map[string]bool{}
	for _, part := range strings.Fields(sett.Sett) {
		letter, digits := part[:1], part[1:]
		threads, err := strconv.Atoi(digits)
		if err != nil || threads < 1 || threads > 400 {
			return Weave{}, latchwork.Fail(latchwork.InvalidInput, "the stripe %q has no number from 1 to 400", part)
		}
		colour, known := palette[letter]
		if !known {
			unknown[letter] = true
			continue
		}
		stripes = append(stripes, Stripe{colour, threads})
	}
	if len(unknown) > 0 {
		letters := strings.Join(slices.Sorted(maps.Keys(unknown)), ", ")
		return Weave{}, latchwork.Fail(latchwork.InvalidInput, "unknown colours: %s", letters)
	}
	if len(stripes) == 0 || len(stripes) > 200 {
		return Weave{}, latchwork.Fail(latchwork.InvalidInput, "a sett has 1 to 200 stripes")
	}
	// A mirrored sett turns at its last stripe and at its first one, which are not woven twice.
	if sett.Mirror {
		for i := len(stripes) - 2; i > 0; i-- {
			stripes = append(stripes, stripes[i])
		}
	}

	counts, total := map[string]int{}, 0
	for _, one := range stripes {
		counts[one.Colour] += one.Threads
		total += one.Threads
	}
	colours := make([]Stripe, 0, len(counts))
	for _, colour := range slices.Sorted(maps.Keys(counts)) {
		colours = append(colours, Stripe{colour, counts[colour]})
	}
	return Weave{stripes, colours, total}, nil
}

// main is empty: the host calls the operators.
func main() {}
