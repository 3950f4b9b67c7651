// The frost warning of a vineyard: the station's forecast, put into words by a model.
package main

import (
	"fmt"
	"strings"

	"latchwork"
)

type Order struct {
	Station  string   `json:"station"`
	Parcels  []string `json:"parcels"`
	Language string   `json:"language"`
}

type Forecast struct {
	LowC  float64 `json:"low_c"`
	Hours int     `json:"hours"`
}

type Written struct {
	Text string `json:"text"`
}

type Brief struct {
	Level string `json:"level"`
	Text  string `json:"text"`
	Ref   string `json:"ref"`
}

func init() {
	latchwork.Step("Frost.Brief", latchwork.Spec{
		Description:   "Writes the frost warning of a vineyard.",
		Effects:       []latchwork.Effect{latchwork.ProduceOutcome},
		OutcomeType:   "Draft.Warning",
		OutcomeStatus: "draft",
		// The text comes from a model and the reference is a random number: the warning is not pure.
		Determinism: latchwork.Stable,
	}, brief)
}

func level(forecast Forecast) string {
	switch {
	case forecast.LowC <= -3 || forecast.LowC <= -1 && forecast.Hours >= 4:
		return "red"
	case forecast.LowC <= 0:
		return "amber"
	}
	return "green"
}

func brief(_ latchwork.Context, order Order) (Brief, error) {
	if order.Station == "" || len(order.Parcels) == 0 {
		return Brief{}, latchwork.Fail(latchwork.InvalidInput, "a warning needs a station and at least one parcel")
	}
	language := order.Language
	if language == "" {
		language = "en"
	}
	forecast, err := latchwork.Call[Forecast]("Forecast.Tonight", map[string]string{"station": order.Station})
	if err != nil {
		return Brief{}, err
	}
	found := level(forecast)
	if found == "green" {
		return Brief{Level: found, Text: "", Ref: latchwork.UUID()}, nil
	}
	prompt := fmt.Sprintf("Warn the growers of %s in %s: %.1f degrees for %d hours, level %s. Two sentences.",
		strings.Join(order.Parcels, ", "), language, forecast.LowC, forecast.Hours, found)
	written, err := latchwork.Call[Written]("Model.Write", map[string]any{"prompt": prompt, "max_tokens": 120})
	if err != nil {
		return Brief{}, err
	}
	text := strings.TrimSpace(written.Text)
	if text == "" {
		return Brief{}, latchwork.Fail(latchwork.DependencyUnavailable, "the model wrote nothing for %s", order.Station)
	}
	return Brief{Level: found, Text: text, Ref: latchwork.UUID()}, nil
}

func main() {}
