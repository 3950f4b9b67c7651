package main

import (
	"encoding/json"

	"latchwork"
)

type Load struct {
	Field string `json:"field"`
	// Bales has the gross weight of each bale in kilograms.
	Bales    []float64 `json:"bales"`
	Moisture float64   `json:"moisture_percent"`
}

type Slip struct {
	Slip string  `json:"slip"`
	Dry  float64 `json:"dry_kg"`
}

const (
	wrap     = 1.4
	maxBales = 200
	wettest  = 25
)

func init() {
	latchwork.Tool("Bale.Weigh", latchwork.Spec{
		Description: "Records the dry weight of a load of hay bales.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, weigh).Verify(check)
}

// dryWeight returns the weight of the bales without wrap and water.
func dryWeight(load Load) float64 {
	sum := 0.0
	for _, gross := range load.Bales {
		sum += max(gross-wrap, 0)
	}
	return sum * (100 - load.Moisture) / 100
}

func weigh(call *latchwork.Invocation, load Load) (Slip, error) {
	if load.Field == "" || len(load.Bales) == 0 || len(load.Bales) > maxBales {
		return Slip{}, latchwork.Fail(latchwork.InvalidInput, "a load has a field and 1 to %d bales", maxBales)
	}
	if load.Moisture < 0 || load.Moisture > wettest {
		return Slip{}, latchwork.Fail(latchwork.PolicyDenied, "hay with %g percent of water is not stored", load.Moisture)
	}
	for i, gross := range load.Bales {
		if gross < 5 || gross > 600 {
			return Slip{}, latchwork.Fail(latchwork.InvalidInput, "bale %d weighs %g kg", i+1, gross)
		}
	}

	slip := Slip{"slip " + call.TraceID, dryWeight(load)}
	text, err := json.Marshal(map[string]any{"field": load.Field, "bales": len(load.Bales), "dry_kg": slip.Dry})
	if err != nil {
		return Slip{}, err
	}
	if err := latchwork.KVSet(slip.Slip, text); err != nil {
		return Slip{}, err
	}
	call.Changed(latchwork.Change{ResourceType: "slip", ResourceID: slip.Slip, Operation: "create", Version: string(text)})
	return slip, nil
}

// check is called when a job is resumed. It compares the slip with its recorded text.
func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the slip is missing", nil
	case string(text) != change.Version:
		return "the slip has another text", nil
	}
	return "", nil
}

// main is empty: the host calls the operators.
func main() {}
