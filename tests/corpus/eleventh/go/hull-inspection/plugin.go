package main

import (
	"encoding/json"
	"strings"

	"latchwork"
)

type Inspection struct {
	Vessel   string `json:"vessel"`
	Grade    string `json:"grade"`
	Findings string `json:"findings"`
}

type Filed struct {
	Inspection string `json:"inspection"`
}

type Summary struct {
	Vessel string `json:"vessel"`
	Grade  string `json:"grade"`
}

type Lookup struct {
	Inspection string `json:"inspection"`
}

func init() {
	latchwork.Tool("Hull.Inspect", latchwork.Spec{
		Description: "Files the inspection of a hull: the summary for the dock board, and the findings.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, inspect)
	latchwork.Tool("Hull.Summary", latchwork.Spec{
		Description: "Returns the summary of a filed inspection.",
	}, summary)
}

func inspect(call *latchwork.Invocation, inspection Inspection) (Filed, error) {
	if strings.TrimSpace(inspection.Vessel) == "" || len(inspection.Vessel) > 200 {
		return Filed{}, latchwork.Fail(latchwork.InvalidInput, "the vessel has no usable name")
	}
	if !strings.Contains("ABCD", inspection.Grade) || len(inspection.Grade) != 1 {
		return Filed{}, latchwork.Fail(latchwork.InvalidInput, "the grade %q is not one of A to D", inspection.Grade)
	}
	text, err := json.Marshal(Summary{inspection.Vessel, inspection.Grade})
	if err != nil {
		return Filed{}, err
	}
	if err := latchwork.KVSet("summary/"+call.ExternalKey, text); err != nil {
		return Filed{}, err
	}
	if err := latchwork.KVSet("findings/"+call.ExternalKey, []byte(inspection.Findings)); err != nil {
		return Filed{}, err
	}
	return Filed{call.ExternalKey}, nil
}

func summary(_ *latchwork.Invocation, lookup Lookup) (Summary, error) {
	if len(lookup.Inspection) == 0 || len(lookup.Inspection) > 128 {
		return Summary{}, latchwork.Fail(latchwork.InvalidInput, "%d characters are no inspection", len(lookup.Inspection))
	}
	text, found, err := latchwork.KVGet("summary/" + lookup.Inspection)
	if err != nil {
		return Summary{}, err
	}
	if !found {
		return Summary{}, latchwork.Fail(latchwork.MissingRequiredContext, "there is no inspection %s", lookup.Inspection)
	}
	var made Summary
	if err := json.Unmarshal(text, &made); err != nil {
		return Summary{}, latchwork.Fail(latchwork.SchemaValidationFailed, "inspection %s: %w", lookup.Inspection, err)
	}
	return made, nil
}

func main() {}
