package main

import (
	"fmt"
	"strings"
	"time"

	"latchwork"
)

type Site struct {
	Site string `json:"site"`
	// Crane is the wind speed in km/h from which the cranes of the site stop.
	Crane float64 `json:"crane,omitempty"`
}

type Brief struct {
	ID     string    `json:"id"`
	Site   string    `json:"site"`
	Text   string    `json:"text"`
	Stop   bool      `json:"stop"`
	MadeAt time.Time `json:"made_at"`
}

type forecast struct {
	Temperature float64 `json:"temperature"`
	Wind        float64 `json:"wind"`
	Rain        bool    `json:"rain"`
}

const usualCrane = 50

func init() {
	latchwork.Step("Weather.Brief", latchwork.Spec{
		Description: "Writes the weather brief of a construction site.",
		// Each brief has an id and a time of its own.
		Determinism: latchwork.Stable,
	}, brief)
}

func brief(_ latchwork.Context, site Site) (Brief, error) {
	name := strings.TrimSpace(site.Site)
	if name == "" {
		return Brief{}, latchwork.Fail(latchwork.InvalidInput, "the site is empty")
	}
	if site.Crane < 0 {
		return Brief{}, latchwork.Fail(latchwork.InvalidInput, "%v is no wind speed", site.Crane)
	}
	crane := site.Crane
	if crane == 0 {
		crane = usualCrane
	}
	today, err := latchwork.Call[forecast]("Weather.Read", map[string]string{"place": name})
	if err != nil {
		return Brief{}, err
	}
	lines := []string{fmt.Sprintf("%.0f degrees, wind %.0f km/h", today.Temperature, today.Wind)}
	if today.Rain {
		lines = append(lines, "rain: cover the open shafts")
	}
	if today.Temperature < 3 {
		lines = append(lines, "frost: pour no concrete")
	}
	stop := today.Wind >= crane
	if stop {
		lines = append(lines, "storm: the cranes stop")
	}
	return Brief{latchwork.UUID(), name, strings.Join(lines, "; "), stop, time.Now()}, nil
}

// main is empty: the host calls the operators.
func main() {}
