package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"latchwork"
)

type Hours struct {
	From string `json:"from"`
	To   string `json:"to"`
}

type Pickup struct {
	Street string `json:"street"`
	Boxes  int    `json:"boxes"`
	Hours  *Hours `json:"hours,omitempty"`
}

type Round struct {
	Day     string   `json:"day"`
	Pickups []Pickup `json:"pickups"`
}

type Order struct {
	Day       string `json:"day"`
	Reference string `json:"reference"`
	Pickup
}

type Ordered struct {
	Number string `json:"number"`
}

type Orders struct {
	Numbers []string `json:"numbers"`
}

func init() {
	latchwork.Step("Vans.Plan", latchwork.Spec{
		Description: "Orders a van for each pickup of a day.",
		Input: latchwork.Schema(`{"type":"object","required":["day","pickups"],"additionalProperties":false,"properties":{
			"day":{"type":"string","pattern":"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
			"pickups":{"type":"array","minItems":1,"maxItems":200,"items":{"type":"object","required":["street","boxes"],"additionalProperties":false,"properties":{
				"street":{"type":"string","minLength":1,"maxLength":120},"boxes":{"type":"integer","minimum":1,"maximum":500},
				"hours":{"type":"object","required":["from","to"],"additionalProperties":false,"properties":{
					"from":{"type":"string","pattern":"^[0-9]{2}:[0-9]{2}$"},"to":{"type":"string","pattern":"^[0-9]{2}:[0-9]{2}$"}}}}}}}}`),
		Output: latchwork.Schema(`{"type":"object","required":["numbers"],"additionalProperties":false,"properties":{
			"numbers":{"type":"array","items":{"type":"string"}}}}`),
		Effects:     []latchwork.Effect{latchwork.ExternalWrite},
		Determinism: latchwork.External,
	}, plan)
}

// reference identifies a pickup at the van company. A pickup with other boxes or other hours is another order.
func reference(day string, pickup Pickup) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %+v", day, pickup))
	return hex.EncodeToString(sum[:12])
}

func plan(_ latchwork.Context, round Round) (Orders, error) {
	streets := map[string]bool{}
	for _, pickup := range round.Pickups {
		if streets[pickup.Street] {
			return Orders{}, latchwork.Fail(latchwork.InvalidInput, "%s is listed twice", pickup.Street)
		}
		streets[pickup.Street] = true
		if pickup.Hours != nil && pickup.Hours.From >= pickup.Hours.To {
			return Orders{}, latchwork.Fail(latchwork.InvalidInput, "the hours of %s end before they begin", pickup.Street)
		}
	}
	orders := Orders{Numbers: []string{}}
	for _, pickup := range round.Pickups {
		name := reference(round.Day, pickup)
		ordered, err := latchwork.Call[Ordered]("Van.Order", Order{round.Day, name, pickup}, name)
		if err != nil {
			return Orders{}, err
		}
		if ordered.Number == "" {
			return Orders{}, latchwork.Fail(latchwork.DependencyUnavailable, "the order of %s has no number", pickup.Street)
		}
		orders.Numbers = append(orders.Numbers, ordered.Number)
	}
	return orders, nil
}

func main() {}
