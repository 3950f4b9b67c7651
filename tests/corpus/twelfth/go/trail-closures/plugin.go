package main

import (
	"latchwork"
)

type Segment struct {
	ID     string  `json:"id"`
	KM     float64 `json:"km"`
	SnowCM int     `json:"snow_cm"`
	Fallen int     `json:"fallen_trees"`
}

type Survey struct {
	Trail    string    `json:"trail"`
	Segments []Segment `json:"segments"`
}

type Closure struct {
	Segment string `json:"segment"`
	Reason  string `json:"reason"`
}

type Notice struct {
	Trail  string    `json:"trail"`
	OpenKM float64   `json:"open_km"`
	Closed []Closure `json:"closed"`
}

var notice = latchwork.Schema(`{
	"type": "object",
	"properties": {
		"trail": {"type": "string"},
		"open_km": {"type": "number", "minimum": 0},
		"closed": {
			"type": "array",
			"items": {
				"type": "object",
				"properties": {
					"segment": {"type": "string"},
					"reason": {"enum": ["snow", "fallen trees"]}
				},
				"required": ["segment", "reason"]
			}
		}
	},
	"required": ["trail", "open_km", "closed"]
}`)

const (
	deepSnow  = 40
	tooFallen = 3
)

func init() {
	latchwork.Step("Trail.Assess", latchwork.Spec{
		Description: "Decides which segments of a hiking trail are closed.",
		Output:      notice,
	}, assess)
}

func assess(_ latchwork.Context, survey Survey) (Notice, error) {
	if survey.Trail == "" {
		return Notice{}, latchwork.Fail(latchwork.InvalidInput, "the trail has no name")
	}
	var closed []Closure
	open := 0.0
	for _, segment := range survey.Segments {
		switch {
		case segment.KM < 0 || segment.KM > 500:
			return Notice{}, latchwork.Fail(latchwork.InvalidInput, "segment %s has an impossible length", segment.ID)
		case segment.SnowCM >= deepSnow:
			closed = append(closed, Closure{segment.ID, "snow"})
		case segment.Fallen >= tooFallen:
			closed = append(closed, Closure{segment.ID, "fallen trees"})
		default:
			open += segment.KM
		}
	}
	return Notice{survey.Trail, open, closed}, nil
}

// main is empty: the host calls the operators.
func main() {}
