// Command pantry-shortfall checks whether a pantry has what the dishes of a day need.
package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"latchwork"
)

type Dish struct {
	Name     string         `json:"name"`
	Portions int            `json:"portions"`
	Grams    map[string]int `json:"grams"`
}

type Input struct {
	Stock  map[string]int `json:"stock"`
	Dishes []Dish         `json:"dishes"`
}

type Left struct {
	Ingredient string `json:"ingredient"`
	Grams      int    `json:"grams"`
}

type Pantry struct {
	Portions int    `json:"portions"`
	Left     []Left `json:"left"`
	Order    []Left `json:"order"`
}

func init() {
	latchwork.Step("Pantry.Check", latchwork.Spec{
		Description: "Checks whether a pantry has what the dishes of a day need, and says what is left.",
	}, check)
}

func check(_ latchwork.Context, in Input) (Pantry, error) {
	need, portions := map[string]int{}, 0
	for i, dish := range in.Dishes {
		if dish.Name == "" || dish.Portions < 1 || dish.Portions > 5000 {
			return Pantry{}, latchwork.Fail(latchwork.InvalidInput, "dish %d needs a name and 1 to 5000 portions", i+1)
		}
		for ingredient, grams := range dish.Grams {
			need[ingredient] += grams * dish.Portions
		}
		portions += dish.Portions
	}
	if portions == 0 {
		return Pantry{}, latchwork.Fail(latchwork.InvalidInput, "there is no dish")
	}
	if err := enough(in.Stock, need); err != nil {
		return Pantry{}, err
	}
	made := Pantry{Portions: portions, Left: []Left{}, Order: []Left{}}
	for ingredient, grams := range in.Stock {
		rest := Left{ingredient, grams - need[ingredient]}
		made.Left = append(made.Left, rest)
		if rest.Grams < grams/5 {
			made.Order = append(made.Order, Left{ingredient, grams - rest.Grams})
		}
	}
	byName := func(a, b Left) int { return cmp.Compare(a.Ingredient, b.Ingredient) }
	slices.SortFunc(made.Left, byName)
	slices.SortFunc(made.Order, byName)
	return made, nil
}

// enough returns an error that names everything that is missing.
func enough(stock, need map[string]int) error {
	var missing []string
	for ingredient, grams := range need {
		if short := grams - stock[ingredient]; short > 0 {
			missing = append(missing, fmt.Sprintf("%d g of %s", short, ingredient))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return latchwork.Fail(latchwork.MissingRequiredContext, "the pantry lacks %s", strings.Join(missing, ", "))
}

// main is empty: the host calls the operators.
func main() {}
