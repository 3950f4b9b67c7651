// Command banquet-cards keeps the place cards of a banquet, one entry for each guest.
package main

import (
	"errors"
	"fmt"
	"strings"

	"latchwork"
)

type Banquet struct {
	Table  string   `json:"table"`
	Guests []string `json:"guests"`
}

type Cards struct {
	Table string `json:"table"`
	// Cards has the names of the entries, in the order of the guests.
	Cards []string `json:"cards"`
}

func init() {
	latchwork.Tool("Banquet.Seat", latchwork.Spec{
		Description: "Keeps a place card for each guest of a table.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, seat).Compensate(remove)
}

func seat(call *latchwork.Invocation, banquet Banquet) (Cards, error) {
	if banquet.Table == "" || len(banquet.Table) > 80 {
		return Cards{}, latchwork.Fail(latchwork.InvalidInput, "a table has a name of 1 to 80 bytes")
	}
	if len(banquet.Guests) < 1 || len(banquet.Guests) > 24 {
		return Cards{}, latchwork.Fail(latchwork.InvalidInput, "%s has 1 to 24 seats", banquet.Table)
	}
	for i, guest := range banquet.Guests {
		if strings.TrimSpace(guest) == "" || len(guest) > 200 {
			return Cards{}, latchwork.Fail(latchwork.InvalidInput, "guest %d has no name of 1 to 200 bytes", i+1)
		}
	}

	made := Cards{Table: banquet.Table, Cards: []string{}}
	for i := range banquet.Guests {
		card := name(call.ExternalKey, i)
		if err := latchwork.KVSet(card, []byte(text(banquet, i))); err != nil {
			return Cards{}, after(i, err)
		}
		call.Changed(latchwork.Change{
			ResourceType: "card", ResourceID: card, Operation: "create", Version: text(banquet, i),
		})
		made.Cards = append(made.Cards, card)
	}
	return made, nil
}

// remove is called when the job is undone. It removes the cards, unless one of them was changed.
func remove(call *latchwork.Invocation, banquet Banquet, _ Cards) error {
	for i, guest := range banquet.Guests {
		card := name(call.ExternalKey, i)
		found, there, err := latchwork.KVGet(card)
		if err != nil {
			return after(i, err)
		}
		if !there {
			return latchwork.Fail(latchwork.PolicyDenied, "the card of %s is not there any more", guest)
		}
		if string(found) != text(banquet, i) {
			return latchwork.Fail(latchwork.PolicyDenied, "the card of %s was changed", guest)
		}
		there, err = latchwork.KVDelete(card)
		if err != nil {
			return after(i, err)
		}
		if !there {
			return after(i, latchwork.Fail(latchwork.PolicyDenied, "the card of %s was removed a moment ago", guest))
		}
		call.Changed(latchwork.Change{ResourceType: "card", ResourceID: card, Operation: "delete"})
	}
	return nil
}

// after marks an error of the map that comes after some cards were written or removed.
func after(cards int, err error) error {
	var failure *latchwork.Failure
	if cards > 0 && errors.As(err, &failure) {
		failure.Applied = latchwork.AppliedUnknown
	}
	return err
}

func name(key string, seat int) string { return fmt.Sprintf("card/%s/%d", key, seat+1) }

func text(banquet Banquet, seat int) string {
	return fmt.Sprintf("%s, seat %d: %s", banquet.Table, seat+1, strings.TrimSpace(banquet.Guests[seat]))
}

// main is empty: the host calls the operators.
func main() {}
