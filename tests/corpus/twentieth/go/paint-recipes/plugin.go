// Command paint-recipes keeps the recipes of the paints that a shop has mixed, so that a customer can get more.
package main

import (
	"encoding/json"
	"strings"
	"time"

	"latchwork"
)

// Pigment is a part of a paint, in drops for each litre.
type Pigment struct {
	Name  string `json:"name"`
	Drops int    `json:"drops"`
}

type Paint struct {
	Customer string    `json:"customer"`
	Base     string    `json:"base"`
	Pigments []Pigment `json:"pigments"`
}

type Kept struct {
	Recipe string `json:"recipe"`
	Drops  int    `json:"drops"`
}

type Wanted struct {
	Recipe string `json:"recipe"`
}

func init() {
	latchwork.Tool("Paint.Keep", latchwork.Spec{
		Description:     "Keeps the recipe of a paint.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 48 * time.Hour,
	}, keep)
	latchwork.Tool("Paint.Recipe", latchwork.Spec{
		Description: "Returns a recipe.",
		Effects:     []latchwork.Effect{latchwork.ReadOnly},
	}, recipe)
}

// number returns the number of a recipe, as the shop prints it on the tin.
func number(place string) string {
	return "recipe/" + strings.ReplaceAll(place, "/", "~")
}

func keep(call *latchwork.Invocation, paint Paint) (Kept, error) {
	if paint.Customer == "" || len(paint.Customer) > 200 || paint.Base == "" || len(paint.Base) > 60 {
		return Kept{}, latchwork.Fail(latchwork.InvalidInput, "a recipe has a customer and a base")
	}
	if len(paint.Pigments) == 0 || len(paint.Pigments) > 12 {
		return Kept{}, latchwork.Fail(latchwork.InvalidInput, "a paint has 1 to 12 pigments, not %d", len(paint.Pigments))
	}
	drops := 0
	for _, pigment := range paint.Pigments {
		if pigment.Name == "" || len(pigment.Name) > 60 || pigment.Drops < 1 || pigment.Drops > 5000 {
			return Kept{}, latchwork.Fail(latchwork.InvalidInput, "pigment %q cannot be right", pigment.Name)
		}
		drops += pigment.Drops
	}
	text, err := json.Marshal(paint)
	if err != nil {
		return Kept{}, latchwork.Fail(latchwork.InvalidInput, "the recipe cannot be kept: %w", err)
	}
	id := number(call.Slot)
	if err := latchwork.KVSet(id, text); err != nil {
		return Kept{}, err
	}
	call.Changed(latchwork.Change{ResourceType: "recipe", ResourceID: id, Operation: "create"})
	return Kept{id, drops}, nil
}

func recipe(_ *latchwork.Invocation, wanted Wanted) (Paint, error) {
	if !strings.HasPrefix(wanted.Recipe, "recipe/") || len(wanted.Recipe) > 200 {
		return Paint{}, latchwork.Fail(latchwork.InvalidInput, "%q is no number of a recipe", wanted.Recipe)
	}
	text, found, err := latchwork.KVGet(wanted.Recipe)
	if err != nil {
		return Paint{}, err
	}
	if !found {
		return Paint{}, latchwork.Fail(latchwork.InvalidInput, "there is no recipe %s", wanted.Recipe)
	}
	var paint Paint
	if err := json.Unmarshal(text, &paint); err != nil {
		return Paint{}, latchwork.Fail(latchwork.SchemaValidationFailed, "recipe %s is damaged: %w", wanted.Recipe, err)
	}
	return paint, nil
}

// main is empty: the host calls the operators.
func main() {}
