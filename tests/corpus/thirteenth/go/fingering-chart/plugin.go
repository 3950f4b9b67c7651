// Command fingering-chart transposes a fingering chart of a woodwind instrument.
package main

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"latchwork"
)

var (
	noteForm  = regexp.MustCompile(`^([A-G])([#b]?)([0-8])$`)
	holesForm = regexp.MustCompile(`^[xo/]{1,14}$`)
	semitones = map[string]int{"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}
	names     = []string{"C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B"}
)

type Fingering struct {
	Note  string `json:"note"`
	Holes string `json:"holes"`
}

type Request struct {
	Instrument string      `json:"instrument"`
	Transpose  int         `json:"transpose"`
	Fingerings []Fingering `json:"fingerings"`
}

// Chart is an object note: holes that keeps the order of the fingerings, which is the order of print.
type Chart []Fingering

func (c Chart) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, one := range c {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(strconv.Quote(one.Note) + ":" + strconv.Quote(one.Holes))
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

type Printed struct {
	Title string `json:"title"`
	Chart Chart  `json:"chart"`
}

var printedSchema = json.RawMessage(`{"type":"object","required":["title","chart"],"properties":{
	"title":{"type":"string"},
	"chart":{"type":"object","additionalProperties":{"type":"string"}}}}`)

func init() {
	latchwork.Step("Fingering.Transpose", latchwork.Spec{
		Description: "Transposes a fingering chart and writes all notes with sharps.",
		Output:      printedSchema,
	}, transpose)
}

func transpose(_ latchwork.Context, in Request) (Printed, error) {
	if strings.TrimSpace(in.Instrument) == "" || len(in.Fingerings) == 0 {
		return Printed{}, latchwork.Fail(latchwork.InvalidInput, "an instrument and its fingerings are needed")
	}
	if in.Transpose < -24 || in.Transpose > 24 {
		return Printed{}, latchwork.Fail(latchwork.InvalidInput, "%d semitones are more than two octaves", in.Transpose)
	}
	chart := make(Chart, 0, len(in.Fingerings))
	for i, one := range in.Fingerings {
		parts := noteForm.FindStringSubmatch(one.Note)
		if parts == nil {
			return Printed{}, latchwork.Fail(latchwork.InvalidInput, "fingering %d: %q is not a note", i+1, one.Note)
		}
		if !holesForm.MatchString(one.Holes) {
			return Printed{}, latchwork.Fail(latchwork.InvalidInput, "fingering %d: %q is not a row of holes", i+1, one.Holes)
		}
		octave, _ := strconv.Atoi(parts[3])
		pitch := octave*12 + semitones[parts[1]] + in.Transpose
		switch parts[2] {
		case "#":
			pitch++
		case "b":
			pitch--
		}
		if pitch < 0 {
			return Printed{}, latchwork.Fail(latchwork.InvalidInput, "fingering %d: %s is too low", i+1, one.Note)
		}
		chart = append(chart, Fingering{names[pitch%12] + strconv.Itoa(pitch/12), one.Holes})
	}
	return Printed{Title: in.Instrument, Chart: chart}, nil
}

// main is empty: the host calls the operators.
func main() {}
