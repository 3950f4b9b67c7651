// Command equipment-loan lends the equipment of a workshop, and extends loans.
package main

import (
	"strings"
	"time"

	"latchwork"
)

type Loan struct {
	Item   string `json:"item"`
	Member string `json:"member"`
	Until  string `json:"until"`
}

type Extension struct {
	Item   string `json:"item"`
	Member string `json:"member"`
	Until  string `json:"until"`
	Reason string `json:"reason"`
}

type Lent struct {
	Item  string `json:"item"`
	Until string `json:"until"`
}

func init() {
	latchwork.Tool("Equipment.Lend", latchwork.Spec{
		Description: "Notes that a member has an item, and until when.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, lend).Verify(check)
	latchwork.Tool("Equipment.Extend", latchwork.Spec{
		Description: "Notes a later end of a loan.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, extend).Verify(check)
}

func entry(item string) string { return "loan/" + item }

// note writes who has an item and until when. The text is the version of the entry.
func note(item, member, until string) (string, error) {
	if item == "" || len(item) > 100 || member == "" || len(member) > 100 || strings.Contains(member, "|") {
		return "", latchwork.Fail(latchwork.InvalidInput, "the item or the member is not usable")
	}
	if _, err := time.Parse(time.DateOnly, until); err != nil {
		return "", latchwork.Fail(latchwork.InvalidInput, "%q is no date", until)
	}
	version := member + "|" + until
	return version, latchwork.KVSet(entry(item), []byte(version))
}

func lend(call *latchwork.Invocation, loan Loan) (Lent, error) {
	version, err := note(loan.Item, loan.Member, loan.Until)
	if err != nil {
		return Lent{}, err
	}
	call.Changed(latchwork.Change{
		ResourceType: "loan", ResourceID: loan.Item, Operation: "create", Version: version,
	})
	return Lent{loan.Item, loan.Until}, nil
}

func extend(call *latchwork.Invocation, extension Extension) (Lent, error) {
	if strings.TrimSpace(extension.Reason) == "" {
		return Lent{}, latchwork.Fail(latchwork.InvalidInput, "an extension needs a reason")
	}
	version, err := note(extension.Item, extension.Member, extension.Until)
	if err != nil {
		return Lent{}, err
	}
	call.Changed(latchwork.Change{
		ResourceType: "extension", ResourceID: extension.Item, Operation: "update", Version: version,
	})
	return Lent{extension.Item, extension.Until}, nil
}

// check is called when a job is resumed. It compares the entry of the item with the recorded version.
func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(entry(change.ResourceID))
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the item is not lent", nil
	case string(text) != change.Version:
		return "the loan is now " + string(text), nil
	}
	return "", nil
}

// main is empty: the host calls the operators.
func main() {}
