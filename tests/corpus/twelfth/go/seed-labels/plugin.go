package main

import (
	"bytes"
	"encoding/json"
	"strings"

	"latchwork"
)

type Trait struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type Packet struct {
	Variety string  `json:"variety"`
	Traits  []Trait `json:"traits"`
}

// Printed is an object whose members keep the order in which they are printed on the packet.
type Printed []Trait

func (p Printed) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	text.WriteByte('{')
	for i, trait := range p {
		if i > 0 {
			text.WriteByte(',')
		}
		name, err := json.Marshal(trait.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(trait.Value)
		if err != nil {
			return nil, err
		}
		text.Write(name)
		text.WriteByte(':')
		text.Write(value)
	}
	text.WriteByte('}')
	return text.Bytes(), nil
}

type Label struct {
	Title   string  `json:"title"`
	Printed Printed `json:"printed"`
	Lines   int     `json:"lines"`
}

func init() {
	latchwork.Step("SeedLabel.Compose", latchwork.Spec{
		Description: "Composes the label of a seed packet from the traits of its variety.",
	}, compose)
}

func compose(_ latchwork.Context, packet Packet) (Label, error) {
	title := strings.TrimSpace(packet.Variety)
	if title == "" {
		return Label{}, latchwork.Fail(latchwork.InvalidInput, "the packet has no variety")
	}
	label := Label{Title: strings.ToUpper(title), Printed: Printed{}, Lines: 1}
	for _, trait := range packet.Traits {
		name := strings.ToLower(strings.TrimSpace(trait.Name))
		value := strings.TrimSpace(trait.Value)
		if name == "" || value == "" {
			continue // an empty line of the form
		}
		label.Printed = append(label.Printed, Trait{name, value})
		label.Lines++
	}
	return label, nil
}

// main is empty: the host calls the operators.
func main() {}
