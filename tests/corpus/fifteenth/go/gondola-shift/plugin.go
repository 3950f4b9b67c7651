package main

import (
	"errors"
	"math/rand"
	"time"

	"latchwork"
)

type Day struct {
	Line  string   `json:"line"`
	Date  string   `json:"date"`
	Posts []string `json:"posts"`
	Crew  []string `json:"crew"`
}

type Person struct {
	Name string `json:"name"`
}

type Availability struct {
	Free bool `json:"free"`
}

type Duty struct {
	Post string `json:"post"`
	Name string `json:"name"`
}

type Roster struct {
	ID     string `json:"id"`
	Line   string `json:"line"`
	Date   string `json:"date"`
	Duties []Duty `json:"duties"`
}

type Published struct {
	Roster Roster    `json:"roster"`
	At     time.Time `json:"at"`
	Rounds int       `json:"rounds"`
}

const (
	maxRounds = 3
	pause     = 10 * time.Minute
)

func init() {
	latchwork.Step("Gondola.Shift", latchwork.Spec{
		Description: "Draws the crew of a gondola lift for one day.",
		Effects:     []latchwork.Effect{latchwork.ExternalWrite},
		// External covers the answers of the tools, and also the random numbers and the time.
		Determinism: latchwork.External,
	}, draw)
}

// free returns the members of the crew who are free, in the order of the crew.
func free(crew []string) ([]string, error) {
	requests := make([]latchwork.Request, len(crew))
	for i, name := range crew {
		requests[i] = latchwork.Request{Operator: "Crew.Ask", Args: Person{name}}
	}
	answers, err := latchwork.CallAll(requests...)
	if err != nil {
		return nil, err
	}
	var found []string
	for i, answer := range answers {
		var one Availability
		// A person without an answer is not available.
		if answer.Into(&one) == nil && one.Free {
			found = append(found, crew[i])
		}
	}
	return found, nil
}

func draw(_ latchwork.Context, day Day) (Published, error) {
	if len(day.Posts) == 0 || len(day.Crew) < len(day.Posts) || len(day.Crew) > 40 {
		return Published{}, latchwork.Fail(latchwork.InvalidInput, "the crew has too few or too many people")
	}
	rounds := 0
	var crew []string
	// The number of rounds is fixed. The sleep of a step takes no time.
	for len(crew) < len(day.Posts) {
		if rounds == maxRounds {
			return Published{}, latchwork.Fail(latchwork.PolicyDenied, "only %d people are free", len(crew))
		}
		if rounds > 0 {
			time.Sleep(pause)
		}
		rounds++
		var err error
		if crew, err = free(day.Crew); err != nil {
			return Published{}, err
		}
	}

	rand.Shuffle(len(crew), func(i, j int) { crew[i], crew[j] = crew[j], crew[i] })
	roster := Roster{ID: latchwork.UUID(), Line: day.Line, Date: day.Date}
	for i, post := range day.Posts {
		roster.Duties = append(roster.Duties, Duty{post, crew[i]})
	}
	_, err := latchwork.Call[any]("Roster.Publish", roster)
	var failure *latchwork.Failure
	if errors.As(err, &failure) && failure.Code == latchwork.PolicyDenied {
		return Published{}, latchwork.Fail(latchwork.PolicyDenied, "the roster of %s was refused: %w", day.Date, err)
	}
	if err != nil {
		return Published{}, err
	}
	return Published{roster, time.Now(), rounds}, nil
}

// main is empty: the host calls the operators.
func main() {}
