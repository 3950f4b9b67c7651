package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"slices"

	"latchwork"
)

type Audit struct {
	Year     int      `json:"year"`
	Invoices []string `json:"invoices"`
	Size     int      `json:"size"`
}

type Sample struct {
	Invoices []string `json:"invoices"`
}

func init() {
	latchwork.Step("Audit.Sample", latchwork.Spec{
		Description: "Chooses the invoices that an audit looks at. Equal lists give equal samples.",
		Determinism: latchwork.Pure,
	}, sample)
}

func sample(_ latchwork.Context, audit Audit) (Sample, error) {
	if audit.Size < 1 || audit.Size > len(audit.Invoices) {
		return Sample{}, latchwork.Fail(latchwork.InvalidInput, "a sample of %d of %d invoices", audit.Size, len(audit.Invoices))
	}
	// The seed follows from the input, so that an auditor can draw the sample again.
	text, err := json.Marshal(audit)
	if err != nil {
		return Sample{}, err
	}
	sum := sha256.Sum256(text)
	source := rand.NewPCG(binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:16]))
	invoices := slices.Clone(audit.Invoices)
	rand.New(source).Shuffle(len(invoices), func(a, b int) { invoices[a], invoices[b] = invoices[b], invoices[a] })
	chosen := invoices[:audit.Size]
	slices.Sort(chosen)
	return Sample{chosen}, nil
}

// main is empty: the host calls the operators.
func main() {}
