// Command foraging-permit keeps permits to gather mushrooms, berries and herbs in a forest.
package main

import (
	"encoding/json"
	"strings"
	"time"

	"latchwork"
)

type Application struct {
	Person string `json:"person"`
	Plant  string `json:"plant"`
	Days   int    `json:"days"`
}

type Permit struct {
	Number    string `json:"number"`
	Person    string `json:"person"`
	Plant     string `json:"plant"`
	Days      int    `json:"days"`
	Kilograms int    `json:"kilograms"`
}

// perDay is the weight in kilograms that one person may gather in a day.
var perDay = map[string]int{"mushrooms": 2, "berries": 3, "herbs": 1}

func init() {
	latchwork.Tool("Foraging.Permit", latchwork.Spec{
		Description:     "Keeps a permit to gather plants in the forest.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 24 * time.Hour,
	}, permit).Reconcile(find)
}

func permit(call *latchwork.Invocation, application Application) (Permit, error) {
	made, err := examine(call, application)
	if err != nil {
		return Permit{}, err
	}
	// The permit is there already if the call was made before.
	if call.TriesBefore > 0 {
		return issued(call, made), nil
	}
	text, err := json.Marshal(made)
	if err != nil {
		return Permit{}, err
	}
	if err := latchwork.KVSet(name(call), text); err != nil {
		return Permit{}, err
	}
	return issued(call, made), nil
}

// examine returns the permit for an application, or the reason for which there is none.
func examine(call *latchwork.Invocation, application Application) (Permit, error) {
	person := strings.TrimSpace(application.Person)
	if person == "" || len(person) > 200 {
		return Permit{}, latchwork.Fail(latchwork.InvalidInput, "a person has a name of 1 to 200 bytes")
	}
	kilograms, known := perDay[application.Plant]
	if !known {
		return Permit{}, latchwork.Fail(latchwork.InvalidInput, "there are no permits for %s", application.Plant)
	}
	if application.Days < 1 || application.Days > 14 {
		return Permit{}, latchwork.Fail(latchwork.InvalidInput, "a permit is for 1 to 14 days")
	}
	return Permit{
		Number: call.ExternalKey, Person: person, Plant: application.Plant, Days: application.Days,
		Kilograms: kilograms * application.Days,
	}, nil
}

// find is called when a repetition is not possible any more. It looks for the permit of the call.
func find(call *latchwork.Invocation, _ Application) (latchwork.Verdict, error) {
	text, found, err := latchwork.KVGet(name(call))
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	var kept Permit
	if err := json.Unmarshal(text, &kept); err != nil {
		return latchwork.Unknown, err
	}
	return latchwork.Happened(issued(call, kept)), nil
}

// issued reports the change and the receipt of a permit.
func issued(call *latchwork.Invocation, made Permit) Permit {
	call.Changed(latchwork.Change{ResourceType: "permit", ResourceID: name(call), Operation: "create"})
	call.Receipt(map[string]string{"number": made.Number})
	return made
}

func name(call *latchwork.Invocation) string { return "permit/" + call.ExternalKey }

// main is empty: the host calls the operators.
func main() {}
