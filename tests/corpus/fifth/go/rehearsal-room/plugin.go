// Reserves a rehearsal room for a day. A room is reserved once: the entry of the map has the name of the room and of
// the day, and the key of the call that made the reservation.
package main

import "latchwork"

type Wish struct {
	Room string `json:"room"`
	Day  string `json:"day"`
}

type Reserved struct {
	Room string `json:"room"`
	Day  string `json:"day"`
}

func init() {
	latchwork.Tool("Rehearsal.Reserve", latchwork.Spec{
		Description: "Reserves a rehearsal room for a day.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, reserve).Reconcile(find)
}

func entry(wish Wish) string { return "room/" + wish.Room + "/" + wish.Day }

func reserve(call *latchwork.Invocation, wish Wish) (Reserved, error) {
	if wish.Room == "" || wish.Day == "" || len(wish.Room)+len(wish.Day) > 100 {
		return Reserved{}, latchwork.Fail(latchwork.InvalidInput, "room or day is empty or too long")
	}
	owner, taken, err := latchwork.KVGet(entry(wish))
	if err != nil {
		return Reserved{}, err
	}
	if taken && string(owner) != call.ExternalKey {
		return Reserved{}, latchwork.Fail(latchwork.PolicyDenied, "room %s is taken on %s", wish.Room, wish.Day)
	}
	if err := latchwork.KVSet(entry(wish), []byte(call.ExternalKey)); err != nil {
		return Reserved{}, err
	}
	return reserved(call, wish), nil
}

// find is called after a crash and finds out whether the call happened.
func find(call *latchwork.Invocation, wish Wish) (latchwork.Verdict, error) {
	_, taken, err := latchwork.KVGet(entry(wish))
	if err != nil {
		return latchwork.Unknown, err
	}
	if !taken {
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(reserved(call, wish)), nil
}

func reserved(call *latchwork.Invocation, wish Wish) Reserved {
	call.Changed(latchwork.Change{
		ResourceType: "room", ResourceID: entry(wish), Operation: "create", Version: call.ExternalKey,
	})
	return Reserved{wish.Room, wish.Day}
}

// main is empty: the host calls the operators.
func main() {}
