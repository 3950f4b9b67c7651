// Command exam-room keeps in which room a candidate writes an exam.
package main

import (
	"latchwork"
)

type Seat struct {
	Candidate string `json:"candidate"`
	Exam      string `json:"exam"`
	Room      string `json:"room"`
}

type Seated struct {
	Candidate string `json:"candidate"`
	Room      string `json:"room"`
}

type Withdrawal struct {
	Candidate string `json:"candidate"`
	Exam      string `json:"exam"`
}

type Withdrawn struct {
	Candidate string `json:"candidate"`
}

func init() {
	latchwork.Tool("Exam.Seat", latchwork.Spec{
		Description: "Gives a candidate a room for an exam, also in place of another room.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, seat).Verify(check)
	latchwork.Tool("Exam.Withdraw", latchwork.Spec{
		Description: "Removes a candidate from an exam.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, withdraw).Verify(check)
}

// place returns the name of the entry, which is also the id of the changed resource.
func place(exam, candidate string) (string, error) {
	if exam == "" || len(exam) > 80 || candidate == "" || len(candidate) > 80 {
		return "", latchwork.Fail(latchwork.InvalidInput, "the exam or the candidate is missing or too long")
	}
	for _, c := range exam {
		if c == '/' {
			return "", latchwork.Fail(latchwork.InvalidInput, "the name of the exam has a slash")
		}
	}
	return "seat/" + exam + "/" + candidate, nil
}

func seat(call *latchwork.Invocation, args Seat) (Seated, error) {
	entry, err := place(args.Exam, args.Candidate)
	if err != nil {
		return Seated{}, err
	}
	if args.Room == "" || len(args.Room) > 80 {
		return Seated{}, latchwork.Fail(latchwork.InvalidInput, "the room of %s is missing or too long", args.Candidate)
	}
	if err := latchwork.KVSet(entry, []byte(args.Room)); err != nil {
		return Seated{}, err
	}
	call.Changed(latchwork.Change{ResourceType: "seat", ResourceID: entry, Operation: "update", Version: args.Room})
	return Seated{args.Candidate, args.Room}, nil
}

func withdraw(call *latchwork.Invocation, args Withdrawal) (Withdrawn, error) {
	entry, err := place(args.Exam, args.Candidate)
	if err != nil {
		return Withdrawn{}, err
	}
	was, err := latchwork.KVDelete(entry)
	if err != nil {
		return Withdrawn{}, err
	}
	if !was {
		return Withdrawn{}, latchwork.Fail(latchwork.PolicyDenied, "%s has no room for this exam", args.Candidate)
	}
	call.Changed(latchwork.Change{ResourceType: "seat", ResourceID: entry, Operation: "delete"})
	return Withdrawn{args.Candidate}, nil
}

// check is called when a job is resumed. It compares the entry with the recorded change.
func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	room, found, err := latchwork.KVGet(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case change.Operation == "delete" && found:
		return "the candidate has a room again: " + string(room), nil
	case change.Operation == "delete":
		return "", nil
	case !found:
		return "the candidate has no room any more", nil
	case string(room) != change.Version:
		return "the candidate has another room: " + string(room), nil
	}
	return "", nil
}

// main is empty: the host calls the operators.
func main() {}
