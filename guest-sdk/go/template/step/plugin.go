package main

import (
	"fmt"
	"strings"
	"time"

	"latchwork"
)

type Person struct {
	Name string `json:"name"`
}

type Greeting struct {
	Greeting string    `json:"greeting"`
	ID       string    `json:"id"`
	At       time.Time `json:"at"`
}

func init() {
	latchwork.Step("{{Noun}}.Greet", latchwork.Spec{
		Description: "Greets a person by name.",
		// Stable and not pure: equal input gives a different id in each job.
		Determinism: latchwork.Stable,
	}, greet)
}

func greet(ctx latchwork.Context, person Person) (Greeting, error) {
	if strings.TrimSpace(person.Name) == "" {
		return Greeting{}, latchwork.Fail(latchwork.InvalidInput, "the name is empty")
	}
	fmt.Println("greeting", person.Name, "for", ctx.Actor)
	return Greeting{"Hello, " + person.Name + "!", latchwork.UUID(), time.Now()}, nil
}

// main is empty: the host calls the operators.
func main() {}
