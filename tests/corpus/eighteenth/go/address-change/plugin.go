// Command address-change keeps the addresses of members, and a record of each change.
package main

import (
	"encoding/json"
	"strings"

	"latchwork"
)

type Change struct {
	Member string `json:"member"`
	Street string `json:"street"`
	City   string `json:"city"`
}

type Changed struct {
	Member string `json:"member"`
	Record string `json:"record"`
}

type Member struct {
	Member string `json:"member"`
}

type Address struct {
	Street string `json:"street"`
	City   string `json:"city"`
}

func init() {
	latchwork.Tool("Address.Change", latchwork.Spec{
		Description: "Changes the address of a member, and notes the change.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, change).Reconcile(find)
	latchwork.Tool("Address.Show", latchwork.Spec{
		Description: "Shows the present address of a member.",
	}, show)
}

func address(member string) string { return "address/" + member }

func record(key string) string { return "record/" + key }

func change(call *latchwork.Invocation, args Change) (Changed, error) {
	if args.Member == "" || len(args.Member) > 100 {
		return Changed{}, latchwork.Fail(latchwork.InvalidInput, "the member is missing or too long")
	}
	if strings.TrimSpace(args.Street) == "" || strings.TrimSpace(args.City) == "" {
		return Changed{}, latchwork.Fail(latchwork.InvalidInput, "the address of %s is not complete", args.Member)
	}
	if len(args.Street)+len(args.City) > 2000 {
		return Changed{}, latchwork.Fail(latchwork.InvalidInput, "the address of %s is too long", args.Member)
	}
	value, err := json.Marshal(Address{args.Street, args.City})
	if err != nil {
		return Changed{}, err
	}
	if err := latchwork.KVSet(address(args.Member), value); err != nil {
		return Changed{}, err
	}
	if err := latchwork.KVSet(record(call.ExternalKey), []byte(args.Member)); err != nil {
		failure := latchwork.Fail(latchwork.DependencyUnavailable, "the change was not noted: %w", err)
		failure.Applied = latchwork.AppliedUnknown
		return Changed{}, failure
	}
	return changed(call, args), nil
}

// find is called after a crash. The record of the call shows that the change is complete.
func find(call *latchwork.Invocation, args Change) (latchwork.Verdict, error) {
	_, found, err := latchwork.KVGet(record(call.ExternalKey))
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(changed(call, args)), nil
}

func changed(call *latchwork.Invocation, args Change) Changed {
	call.Changed(latchwork.Change{ResourceType: "address", ResourceID: args.Member, Operation: "update"})
	return Changed{args.Member, call.ExternalKey}
}

func show(_ *latchwork.Invocation, args Member) (Address, error) {
	value, found, err := latchwork.KVGet(address(args.Member))
	if err != nil {
		return Address{}, err
	}
	if !found {
		return Address{}, latchwork.Fail(latchwork.MissingRequiredContext, "%s has no address", args.Member)
	}
	var shown Address
	if err := json.Unmarshal(value, &shown); err != nil {
		return Address{}, latchwork.Fail(latchwork.SchemaValidationFailed, "the address of %s cannot be read", args.Member)
	}
	return shown, nil
}

// main is empty: the host calls the operators.
func main() {}
