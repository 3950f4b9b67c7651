package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"latchwork"
)

type Engine struct {
	Number string `json:"number"`
	Tonnes int    `json:"tonnes"`
}

type Wagon struct {
	Number string `json:"number"`
	Tonnes int    `json:"tonnes"`
	Load   string `json:"load"`
}

type Train struct {
	Train  string  `json:"train"`
	Engine Engine  `json:"engine"`
	Banker *Engine `json:"banker,omitempty"`
	Wagons []Wagon `json:"wagons"`
}

type Consist struct {
	Train    string `json:"train"`
	Vehicles int    `json:"vehicles"`
	Tonnes   int    `json:"tonnes"`
	// Revision changes when anything in the train changes. The yard prints it on the sheet.
	Revision string `json:"revision"`
}

func init() {
	latchwork.Step("Consist.List", latchwork.Spec{
		Description: "Lists the vehicles of a train with its weight and a revision code.",
	}, list)
}

func list(_ latchwork.Context, train Train) (Consist, error) {
	if train.Engine.Number == "" {
		return Consist{}, latchwork.Fail(latchwork.InvalidInput, "train %s has no engine", train.Train)
	}
	consist := Consist{Train: train.Train, Vehicles: 1 + len(train.Wagons), Tonnes: train.Engine.Tonnes}
	if train.Banker != nil {
		consist.Vehicles++
		consist.Tonnes += train.Banker.Tonnes
	}
	for _, wagon := range train.Wagons {
		consist.Tonnes += wagon.Tonnes
	}
	consist.Revision = revision(train)
	return consist, nil
}

func revision(train Train) string {
	sum := sha256.Sum256([]byte(fmt.Sprintf("%+v", train)))
	return hex.EncodeToString(sum[:6])
}

func main() {}
