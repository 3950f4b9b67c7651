package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"latchwork"
)

type Reagent struct {
	Name   string   `json:"name"`
	Lot    string   `json:"lot"`
	Grams  float64  `json:"grams"`
	Purity *float64 `json:"purity,omitempty"`
}

type Batch struct {
	Product  string    `json:"product"`
	Reagents []Reagent `json:"reagents"`
}

type Digest struct {
	Product  string `json:"product"`
	Reagents int    `json:"reagents"`
	Digest   string `json:"digest"`
}

func init() {
	latchwork.Step("Reagents.Digest", latchwork.Spec{
		Description: "Computes the digest by which a batch is recognized in the lab register.",
		Determinism: latchwork.Pure,
	}, digest)
}

func digest(_ latchwork.Context, batch Batch) (Digest, error) {
	if strings.TrimSpace(batch.Product) == "" {
		return Digest{}, latchwork.Fail(latchwork.InvalidInput, "the product has no name")
	}
	if len(batch.Reagents) == 0 {
		return Digest{}, latchwork.Fail(latchwork.InvalidInput, "the batch %s has no reagents", batch.Product)
	}
	sum := sha256.New()
	fmt.Fprintln(sum, batch.Product)
	for _, reagent := range batch.Reagents {
		if reagent.Grams <= 0 {
			return Digest{}, latchwork.Fail(latchwork.InvalidInput, "%s: the weight is not positive", reagent.Name)
		}
		// One line for each reagent, in the order of the recipe.
		fmt.Fprintf(sum, "%+v\n", reagent)
	}
	return Digest{
		Product:  batch.Product,
		Reagents: len(batch.Reagents),
		Digest:   hex.EncodeToString(sum.Sum(nil))[:24],
	}, nil
}

func main() {}
