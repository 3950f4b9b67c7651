// Command hail-warnings notes the forecast of hail for the fields of a farm, and warns the farmer.
package main

import (
	"fmt"
	"slices"

	"latchwork"
)

// Forecast is the forecast for one field: the size of the hail, and its chance in percent.
type Forecast struct {
	Field       string `json:"field"`
	Millimeters int    `json:"millimeters"`
	Chance      int    `json:"chance"`
}

type Farm struct {
	Farm      string     `json:"farm"`
	Phone     string     `json:"phone"`
	Forecasts []Forecast `json:"forecasts"`
}

type Report struct {
	Farm   string   `json:"farm"`
	Level  string   `json:"level"`
	Fields []string `json:"fields"`
	Note   string   `json:"note"`
	Sent   bool     `json:"sent"`
}

type kept struct {
	Key string `json:"key"`
}

func init() {
	latchwork.Step("Hail.Warn", latchwork.Spec{
		Description: "Notes the forecast of hail for a farm, and warns the farmer of severe hail.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
		Determinism: latchwork.External,
	}, warn)
}

func warn(_ latchwork.Context, farm Farm) (Report, error) {
	if len(farm.Forecasts) == 0 {
		return Report{}, latchwork.Fail(latchwork.InvalidInput, "%s has no forecast", farm.Farm)
	}
	made := Report{Farm: farm.Farm, Level: "calm", Fields: []string{}}
	for _, forecast := range farm.Forecasts {
		if forecast.Chance < 0 || forecast.Chance > 100 || forecast.Millimeters < 0 {
			return Report{}, latchwork.Fail(latchwork.InvalidInput, "%s: this is no forecast", forecast.Field)
		}
		level := levelOf(forecast)
		if level == "calm" {
			continue
		}
		if made.Level != "severe" {
			made.Level = level
		}
		made.Fields = append(made.Fields, forecast.Field)
	}
	slices.Sort(made.Fields)

	text := fmt.Sprintf("%s: %s, fields %v", farm.Farm, made.Level, made.Fields)
	note, err := latchwork.Call[kept]("Weather.Note", map[string]string{"text": text})
	if err != nil {
		return Report{}, err
	}
	made.Note = note.Key
	if made.Level != "severe" || farm.Phone == "" {
		return made, nil
	}
	_, err = latchwork.Call[struct{}]("Sms.Send", map[string]string{"to": farm.Phone, "text": text})
	if err != nil {
		return Report{}, err
	}
	made.Sent = true
	return made, nil
}

// levelOf judges one forecast. Hail of two centimeters destroys a crop.
func levelOf(forecast Forecast) string {
	switch {
	case forecast.Millimeters >= 20 && forecast.Chance >= 50:
		return "severe"
	case forecast.Millimeters >= 5 && forecast.Chance >= 30:
		return "possible"
	}
	return "calm"
}

// main is empty: the host calls the operators.
func main() {}
