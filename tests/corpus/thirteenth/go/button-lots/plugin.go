// Command button-lots puts equal buttons of a haberdasher's estate together in lots.
package main

import (
	"crypto/sha256"
	"fmt"

	"latchwork"
)

// Button has what two buttons must have in common to be in one lot.
type Button struct {
	Material string  `json:"material"`
	Color    string  `json:"color"`
	SizeMM   int     `json:"size_mm"`
	Holes    *int    `json:"holes,omitempty"` // none: the button has a shank
	Maker    *string `json:"maker,omitempty"`
}

type Tin struct {
	Button
	Pieces int `json:"pieces"`
}

type Estate struct {
	Tins []Tin `json:"tins"`
}

type Lot struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Pieces int    `json:"pieces"`
	Tins   []int  `json:"tins"`
}

type Catalog struct {
	Lots []Lot `json:"lots"`
}

func init() {
	latchwork.Step("Button.Sort", latchwork.Spec{
		Description: "Puts equal buttons together in lots, in the order of the tins.",
	}, sort)
}

func sort(_ latchwork.Context, estate Estate) (Catalog, error) {
	if len(estate.Tins) > 5000 {
		return Catalog{}, latchwork.Fail(latchwork.InvalidInput, "%d tins are too many for one catalog", len(estate.Tins))
	}
	made := Catalog{Lots: []Lot{}}
	at := map[string]int{}
	for i, tin := range estate.Tins {
		if tin.Pieces < 1 || tin.Pieces > 100_000 || tin.SizeMM < 1 || tin.SizeMM > 200 {
			return Catalog{}, latchwork.Fail(latchwork.InvalidInput, "tin %d: pieces or size out of range", i+1)
		}
		if tin.Holes != nil && (*tin.Holes < 1 || *tin.Holes > 8) {
			return Catalog{}, latchwork.Fail(latchwork.InvalidInput, "tin %d: %d holes", i+1, *tin.Holes)
		}
		key := fmt.Sprintf("%+v", tin.Button)
		lot, known := at[key]
		if !known {
			lot = len(made.Lots)
			at[key] = lot
			made.Lots = append(made.Lots, Lot{ID: lotID(key), Title: title(tin.Button), Tins: []int{}})
		}
		made.Lots[lot].Pieces += tin.Pieces
		made.Lots[lot].Tins = append(made.Lots[lot].Tins, i+1)
	}
	return made, nil
}

// lotID stays the same when the catalog is printed again.
func lotID(key string) string {
	sum := sha256.Sum256([]byte(key))
	return fmt.Sprintf("L-%x", sum[:5])
}

func title(button Button) string {
	text := fmt.Sprintf("%s %s buttons, %d mm", button.Color, button.Material, button.SizeMM)
	if button.Maker != nil {
		text += ", by " + *button.Maker
	}
	return text
}

// main is empty: the host calls the operators.
func main() {}
