// Seals the questions of a pub quiz into envelopes: a random order for each table, with the time and an id on it.
package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"latchwork"
)

type Quiz struct {
	Questions []string `json:"questions"`
	Tables    []string `json:"tables"`
	PerTable  int      `json:"per_table"`
}

type Envelope struct {
	ID        string   `json:"id"`
	Table     string   `json:"table"`
	Questions []string `json:"questions"`
}

type Sealed struct {
	Host      string     `json:"host"`
	SealedAt  string     `json:"sealed_at"`
	Envelopes []Envelope `json:"envelopes"`
}

func init() {
	latchwork.Step("Quiz.Seal", latchwork.Spec{
		Description: "Seals the questions of a quiz into one envelope for each table.",
		// Clock, random numbers and the actor of the job, but nothing of the outside world.
		Determinism: latchwork.Stable,
	}, seal)
}

func seal(ctx latchwork.Context, quiz Quiz) (Sealed, error) {
	if quiz.PerTable < 1 || quiz.PerTable > len(quiz.Questions) {
		return Sealed{}, latchwork.Fail(latchwork.InvalidInput, "%d questions for each table, of %d", quiz.PerTable, len(quiz.Questions))
	}
	tables := map[string]bool{}
	for _, table := range quiz.Tables {
		if tables[table] {
			failure := latchwork.Fail(latchwork.InvalidInput, "table %s is named twice", table)
			failure.Detail = map[string]string{"job": ctx.JobID, "at": time.Now().UTC().Format(time.RFC3339)}
			return Sealed{}, failure
		}
		tables[table] = true
	}
	sealed := Sealed{Host: ctx.Actor, Envelopes: []Envelope{}}
	// The order of a map is drawn by the host's generator in a step, so it may choose who gets the first envelope.
	for table := range tables {
		questions := slices.Clone(quiz.Questions)
		rand.Shuffle(len(questions), func(i, k int) { questions[i], questions[k] = questions[k], questions[i] })
		sealed.Envelopes = append(sealed.Envelopes, Envelope{latchwork.UUID(), table, questions[:quiz.PerTable]})
	}
	time.Sleep(2 * time.Second) // The wax: a step does not wait, its clock moves.
	sealed.SealedAt = time.Now().UTC().Format(time.RFC3339Nano)
	if err := latchwork.Emit("quiz.sealed", map[string]any{"tables": len(tables), "at": sealed.SealedAt}); err != nil {
		return Sealed{}, fmt.Errorf("announcing the quiz: %w", err)
	}
	return sealed, nil
}

func main() {}
