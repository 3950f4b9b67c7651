// Command livestock-passport registers the animals of a farm, and keeps a passport for each of them.
package main

import (
	"encoding/json"

	"latchwork"
)

type Animal struct {
	Ear  string `json:"ear"`
	Farm string `json:"farm"`
	Born string `json:"born"`
}

type Registered struct {
	Animal string `json:"animal"`
}

// Sale names an animal that leaves the country. Its passport is handed over to the buyer.
type Sale struct {
	Animal string `json:"animal"`
}

type Sold struct {
	Passport json.RawMessage `json:"passport"`
}

func init() {
	latchwork.Tool("Animal.Register", latchwork.Spec{
		Description: "Registers an animal and makes its passport.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, register).Compensate(takeBack)
	latchwork.Tool("Animal.HandOver", latchwork.Spec{
		Description: "Takes the passport of an animal out of the register.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, handOver)
}

func animal(id string) string   { return "animal/" + id }
func passport(id string) string { return "passport/" + id }

// late returns an error of the map after the first entry was changed.
func late(err error, message string) error {
	failure := latchwork.Fail(latchwork.DependencyUnavailable, "%s: %w", message, err)
	failure.Applied = latchwork.AppliedUnknown
	return failure
}

func register(call *latchwork.Invocation, in Animal) (Registered, error) {
	if in.Ear == "" || len(in.Ear) > 30 || in.Farm == "" || len(in.Farm) > 200 || in.Born == "" || len(in.Born) > 40 {
		return Registered{}, latchwork.Fail(latchwork.InvalidInput, "an animal has an ear tag, a farm and a day of birth")
	}
	id := call.ExternalKey
	pass, err := json.Marshal(map[string]string{"ear": in.Ear, "born": in.Born, "first_farm": in.Farm})
	if err != nil {
		return Registered{}, latchwork.Fail(latchwork.InvalidInput, "the passport cannot be made: %w", err)
	}
	if err := latchwork.KVSet(passport(id), pass); err != nil {
		return Registered{}, err
	}
	if err := latchwork.KVSet(animal(id), []byte(in.Farm)); err != nil {
		return Registered{}, late(err, "the passport was made, but not the entry of the animal")
	}
	call.Changed(latchwork.Change{ResourceType: "passport", ResourceID: passport(id), Operation: "create"})
	call.Changed(latchwork.Change{ResourceType: "animal", ResourceID: animal(id), Operation: "create"})
	return Registered{id}, nil
}

// takeBack undoes a registration: removes the animal and its passport.
func takeBack(call *latchwork.Invocation, in Animal, _ Registered) error {
	id := call.ExternalKey
	if there, err := latchwork.KVDelete(animal(id)); err != nil {
		return err
	} else if !there {
		return latchwork.Fail(latchwork.PolicyDenied, "animal %s is no longer in the register", in.Ear)
	}
	if there, err := latchwork.KVDelete(passport(id)); err != nil {
		return late(err, "the animal was removed, but not its passport")
	} else if !there {
		return latchwork.Fail(latchwork.PolicyDenied, "the passport of animal %s was handed over", in.Ear)
	}
	call.Changed(latchwork.Change{ResourceType: "passport", ResourceID: passport(id), Operation: "delete"})
	call.Changed(latchwork.Change{ResourceType: "animal", ResourceID: animal(id), Operation: "delete"})
	return nil
}

func handOver(call *latchwork.Invocation, sale Sale) (Sold, error) {
	if sale.Animal == "" || len(sale.Animal) > 128 {
		return Sold{}, latchwork.Fail(latchwork.InvalidInput, "the animal is missing")
	}
	text, found, err := latchwork.KVGet(passport(sale.Animal))
	if err != nil {
		return Sold{}, err
	}
	if !found || !json.Valid(text) {
		return Sold{}, latchwork.Fail(latchwork.InvalidInput, "animal %s has no passport here", sale.Animal)
	}
	if there, err := latchwork.KVDelete(passport(sale.Animal)); err != nil {
		return Sold{}, err
	} else if !there {
		return Sold{}, latchwork.Fail(latchwork.PolicyDenied, "the passport was handed over to another buyer")
	}
	call.Changed(latchwork.Change{ResourceType: "passport", ResourceID: passport(sale.Animal), Operation: "delete"})
	return Sold{text}, nil
}

// main is empty: the host calls the operators.
func main() {}
