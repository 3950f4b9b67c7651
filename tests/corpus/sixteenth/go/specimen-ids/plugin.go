// Command specimen-ids gives the specimens of a herbarium import their catalogue ids.
package main

import (
	"log/slog"
	"strings"

	"latchwork"
)

type Specimen struct {
	Field string `json:"field"`
	Taxon string `json:"taxon"`
}

type Import struct {
	Collection string     `json:"collection"`
	Specimens  []Specimen `json:"specimens"`
}

type Label struct {
	Field string `json:"field"`
	ID    string `json:"id"`
}

type Labels struct {
	Collection string  `json:"collection"`
	Genera     int     `json:"genera"`
	Labels     []Label `json:"labels"`
}

func init() {
	latchwork.Step("Specimen.Label", latchwork.Spec{
		Description: "Gives each specimen of an import an id for its label.",
		// The ids are random, so each job has others.
		Determinism: latchwork.Stable,
	}, label)
}

func label(_ latchwork.Context, in Import) (Labels, error) {
	if in.Collection == "" {
		return Labels{}, latchwork.Fail(latchwork.InvalidInput, "the collection has no name")
	}
	made := Labels{Collection: in.Collection, Labels: make([]Label, 0, len(in.Specimens))}
	fields := make(map[string]int, len(in.Specimens))
	genera := map[string]bool{}
	for i, specimen := range in.Specimens {
		field := strings.TrimSpace(specimen.Field)
		if field == "" {
			return Labels{}, latchwork.Fail(latchwork.InvalidInput, "specimen %d has no field number", i+1)
		}
		if before, double := fields[field]; double {
			return Labels{}, latchwork.Fail(latchwork.InvalidInput,
				"specimens %d and %d have the field number %s", before+1, i+1, field)
		}
		fields[field] = i
		genera[genus(specimen.Taxon)] = true
		made.Labels = append(made.Labels, Label{field, latchwork.UUID()})
	}
	made.Genera = len(genera)
	slog.Info("labelled", "collection", in.Collection, "specimens", len(made.Labels))
	return made, nil
}

// genus returns the first word of a taxon in lower case, or "unknown".
func genus(taxon string) string {
	words := strings.Fields(strings.ToLower(taxon))
	if len(words) == 0 {
		return "unknown"
	}
	return words[0]
}

// main is empty: the host calls the operators.
func main() {}
