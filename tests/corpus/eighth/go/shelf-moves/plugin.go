package main

import "latchwork"

type Put struct {
	Book  string `json:"book"`
	Shelf string `json:"shelf"`
}

type Lend struct {
	Book   string `json:"book"`
	Reader string `json:"reader"`
}

type Entry struct {
	Entry string `json:"entry"`
}

func init() {
	effects := []latchwork.Effect{latchwork.InternalWrite}
	latchwork.Tool("Shelf.Put", latchwork.Spec{
		Description: "Notes that a book was put on a shelf.",
		Effects:     effects,
	}, func(call *latchwork.Invocation, put Put) (Entry, error) {
		return note(call, put.Book, "shelf "+put.Shelf)
	}).Verify(check)
	latchwork.Tool("Shelf.Lend", latchwork.Spec{
		Description: "Notes that a book was lent to a reader.",
		Effects:     effects,
	}, func(call *latchwork.Invocation, lend Lend) (Entry, error) {
		return note(call, lend.Book, "reader "+lend.Reader)
	})
}

func note(call *latchwork.Invocation, book, place string) (Entry, error) {
	if book == "" {
		return Entry{}, latchwork.Fail(latchwork.InvalidInput, "book is missing")
	}
	text := book + ": " + place
	if err := latchwork.KVSet(call.ExternalKey, []byte(text)); err != nil {
		return Entry{}, err
	}
	call.Changed(latchwork.Change{ResourceType: "book-note", ResourceID: call.ExternalKey, Operation: "create", Version: text})
	return Entry{text}, nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the note is missing", nil
	case string(text) != change.Version:
		return "the note says " + string(text), nil
	}
	return "", nil
}

func main() {}
