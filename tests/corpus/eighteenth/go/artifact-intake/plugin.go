// Command artifact-intake takes found objects into the register of a museum, each with its story.
package main

import (
	"encoding/json"
	"strings"

	"latchwork"
)

type Artifact struct {
	Name  string `json:"name"`
	Site  string `json:"site"`
	Year  int    `json:"year"`
	Story string `json:"story"`
}

type Taken struct {
	Number string `json:"number"`
	Words  int    `json:"words"`
}

type Number struct {
	Number string `json:"number"`
}

// Card is what the register shows of an object.
type Card struct {
	Name string `json:"name"`
	Site string `json:"site"`
	Year int    `json:"year"`
}

func init() {
	latchwork.Tool("Artifact.Take", latchwork.Spec{
		Description: "Takes a found object into the register, with its story.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, take)
	latchwork.Tool("Artifact.Show", latchwork.Spec{
		Description: "Shows the card of an object.",
	}, show)
}

func take(call *latchwork.Invocation, artifact Artifact) (Taken, error) {
	name := strings.TrimSpace(artifact.Name)
	if name == "" || len(name) > 500 {
		return Taken{}, latchwork.Fail(latchwork.InvalidInput, "the name of the object is missing or too long")
	}
	if artifact.Site == "" || len(artifact.Site) > 500 {
		return Taken{}, latchwork.Fail(latchwork.InvalidInput, "the site of %s is missing or too long", name)
	}
	if artifact.Year < -10_000 || artifact.Year > 2100 {
		return Taken{}, latchwork.Fail(latchwork.InvalidInput, "the year of %s is out of range", name)
	}
	card, err := json.Marshal(Card{name, artifact.Site, artifact.Year})
	if err != nil {
		return Taken{}, err
	}
	if err := latchwork.KVSet("card/"+call.ExternalKey, card); err != nil {
		return Taken{}, err
	}
	call.Changed(latchwork.Change{ResourceType: "card", ResourceID: call.ExternalKey, Operation: "create"})
	if artifact.Story != "" {
		if err := latchwork.KVSet("story/"+call.ExternalKey, []byte(artifact.Story)); err != nil {
			return Taken{}, err
		}
		call.Changed(latchwork.Change{ResourceType: "story", ResourceID: call.ExternalKey, Operation: "create"})
	}
	return Taken{call.ExternalKey, len(strings.Fields(artifact.Story))}, nil
}

func show(_ *latchwork.Invocation, args Number) (Card, error) {
	text, found, err := latchwork.KVGet("card/" + args.Number)
	if err != nil {
		return Card{}, err
	}
	if !found {
		return Card{}, latchwork.Fail(latchwork.MissingRequiredContext, "the register has no object %s", args.Number)
	}
	var card Card
	if err := json.Unmarshal(text, &card); err != nil {
		return Card{}, latchwork.Fail(latchwork.SchemaValidationFailed, "card %s cannot be read", args.Number)
	}
	return card, nil
}

// main is empty: the host calls the operators.
func main() {}
