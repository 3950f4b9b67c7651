// Command lagoon-notice writes the bathing notice of a lagoon from its last water sample.
package main

import (
	"fmt"
	"strings"
	"time"

	"latchwork"
)

type Lagoon struct {
	Name  string `json:"name"`
	Limit int    `json:"limit"`
}

// Sample is the answer of the laboratory: germs in 100 millilitres, and the temperature in tenths of a degree.
type Sample struct {
	Germs       int `json:"germs"`
	TenthDegree int `json:"tenth_degree"`
}

type Notice struct {
	ID      string   `json:"id"`
	Issued  string   `json:"issued"`
	Colour  string   `json:"colour"`
	Lines   []string `json:"lines"`
	Expires string   `json:"expires"`
}

func init() {
	latchwork.Step("Lagoon.Notice", latchwork.Spec{
		Description: "Writes the bathing notice of a lagoon.",
		// The notice has an id and a date, which differ between jobs.
		Determinism: latchwork.Stable,
	}, notice)
}

func notice(_ latchwork.Context, lagoon Lagoon) (Notice, error) {
	name := strings.TrimSpace(lagoon.Name)
	if name == "" {
		return Notice{}, latchwork.Fail(latchwork.InvalidInput, "the lagoon has no name")
	}
	if lagoon.Limit < 1 || lagoon.Limit > 100000 {
		return Notice{}, latchwork.Fail(latchwork.InvalidInput, "the limit %d is out of range", lagoon.Limit)
	}
	sample, err := latchwork.Call[Sample]("Water.LastSample", map[string]string{"place": name})
	if err != nil {
		return Notice{}, err
	}

	colour, advice, days := judged(sample, lagoon.Limit)
	lines := []string{
		fmt.Sprintf("Lagoon %s", name),
		fmt.Sprintf("Germs: %d in 100 ml (limit %d)", sample.Germs, lagoon.Limit),
		advice,
	}
	if sample.TenthDegree < 160 {
		lines = append(lines, fmt.Sprintf("Cold water: %d.%d degrees", sample.TenthDegree/10, max(sample.TenthDegree, 0)%10))
	}
	now := time.Now().UTC()
	return Notice{
		ID:      latchwork.UUID(),
		Issued:  now.Format(time.DateOnly),
		Colour:  colour,
		Lines:   lines,
		Expires: now.AddDate(0, 0, days).Format(time.DateOnly),
	}, nil
}

// judged returns the colour of the flag, the advice, and the days until the next sample is due.
func judged(sample Sample, limit int) (colour, advice string, days int) {
	switch {
	case sample.Germs > limit:
		return "red", "Bathing is forbidden.", 1
	case sample.Germs*10 > limit*7:
		return "yellow", "Children should not swallow water.", 3
	}
	return "green", "Bathing is allowed.", 7
}

// main is empty: the host calls the operators.
func main() {}
