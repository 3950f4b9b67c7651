// Command balloon-launch draws the order of launch of a balloon meeting and looks at the wind.
package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"latchwork"
)

const tries = 3

type Meeting struct {
	Field string   `json:"field"`
	Teams []string `json:"teams"`
}

type Wind struct {
	Knots     int `json:"knots"`
	Direction int `json:"direction"`
}

type Launch struct {
	Order   []string  `json:"order"`
	Wind    Wind      `json:"wind"`
	Source  string    `json:"source"`
	Flyable bool      `json:"flyable"`
	DrawnAt time.Time `json:"drawn_at"`
	DrawID  string    `json:"draw_id"`
}

func init() {
	latchwork.Step("Balloon.Draw", latchwork.Spec{
		Description: "Draws the order of launch and decides by the wind.",
		// The wind changes with the outside world. External includes the random numbers.
		Determinism: latchwork.External,
	}, draw)
}

func draw(ctx latchwork.Context, meeting Meeting) (Launch, error) {
	if meeting.Field == "" || len(meeting.Teams) == 0 || len(meeting.Teams) > 500 {
		return Launch{}, latchwork.Fail(latchwork.InvalidInput, "a field and 1 to 500 teams are needed")
	}
	seen := map[string]bool{}
	for _, team := range meeting.Teams {
		if seen[team] {
			return Launch{}, latchwork.Fail(latchwork.InvalidInput, "team %q is named twice", team)
		}
		seen[team] = true
	}
	wind, source, err := measure(meeting.Field)
	if err != nil {
		return Launch{}, err
	}
	if wind.Knots < 0 || wind.Knots > 300 || wind.Direction < 0 || wind.Direction > 360 {
		return Launch{}, latchwork.Fail(latchwork.SchemaValidationFailed, "%s reports an impossible wind", source)
	}
	order := make([]string, 0, len(seen))
	for team := range seen {
		order = append(order, team)
	}
	rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	fmt.Println("drawn for", ctx.Actor, "by the wind of", source)
	return Launch{order, wind, source, wind.Knots <= 10, time.Now(), latchwork.UUID()}, nil
}

// measure asks the mast of the field a few times, then the model.
func measure(field string) (Wind, string, error) {
	query := map[string]string{"field": field}
	for range tries {
		wind, err := latchwork.Call[Wind]("Wind.Mast", query)
		if err == nil {
			return wind, "mast", nil
		}
		if !passing(err) {
			return Wind{}, "", err
		}
	}
	wind, err := latchwork.Call[Wind]("Wind.Model", query)
	return wind, "model", err
}

func passing(err error) bool {
	var failure *latchwork.Failure
	if !errors.As(err, &failure) {
		return false
	}
	switch failure.Code {
	case latchwork.NetworkTimeout, latchwork.DependencyUnavailable, latchwork.TemporaryProviderError:
		return true
	}
	return false
}

// main is empty: the host calls the operators.
func main() {}
