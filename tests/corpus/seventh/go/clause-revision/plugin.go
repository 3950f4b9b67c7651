package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"latchwork"
)

type Clause struct {
	Number string   `json:"number"`
	Text   string   `json:"text"`
	Cap    *float64 `json:"cap,omitempty"`
}

type Contract struct {
	Title   string   `json:"title"`
	Clauses []Clause `json:"clauses"`
}

type Revision struct {
	Number string `json:"number"`
	Tag    string `json:"tag"`
}

type Revisions struct {
	Title   string     `json:"title"`
	Clauses []Revision `json:"clauses"`
}

func init() {
	latchwork.Step("Clause.Revise", latchwork.Spec{
		Description: "Gives each clause of a contract a tag that changes with its content.",
	}, revise)
}

func revise(_ latchwork.Context, contract Contract) (Revisions, error) {
	made := Revisions{Title: contract.Title, Clauses: []Revision{}}
	for _, clause := range contract.Clauses {
		if strings.TrimSpace(clause.Number) == "" {
			return Revisions{}, latchwork.Fail(latchwork.InvalidInput, "a clause without a number")
		}
		clause.Text = strings.Join(strings.Fields(clause.Text), " ")
		made.Clauses = append(made.Clauses, Revision{Number: clause.Number, Tag: tag(clause)})
	}
	return made, nil
}

// tag is the beginning of the hash of all fields of a clause.
func tag(clause Clause) string {
	sum := sha256.Sum256([]byte(fmt.Sprintf("%+v", clause)))
	return hex.EncodeToString(sum[:6])
}

// main is empty: the host calls the operators.
func main() {}
