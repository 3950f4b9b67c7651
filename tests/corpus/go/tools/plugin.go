// Corpus of tools written in typical Go. Each bad tool breaks a rule of the checker. The good tool next to it
// looks similar and breaks no rule.
package main

import (
	"crypto/rand"
	"errors"
	"time"

	"latchwork"
)

type Note struct {
	Text string `json:"text"`
}

type Kept struct {
	Key string `json:"key"`
}

// Each try uses another key, so a retry after a crash stores the note twice.
func badKeyed(_ *latchwork.Invocation, note Note) (Kept, error) {
	key := rand.Text()
	return Kept{key}, latchwork.KVSet(key, []byte(note.Text))
}

func goodKeyed(call *latchwork.Invocation, note Note) (Kept, error) {
	return Kept{call.ExternalKey}, latchwork.KVSet(call.ExternalKey, []byte(note.Text))
}

func keep(call *latchwork.Invocation, note Note) (Kept, error) {
	return Kept{call.ExternalKey}, latchwork.KVSet("note-"+call.ExternalKey, []byte(note.Text))
}

func look(at, key string) (latchwork.Verdict, error) {
	_, found, err := latchwork.KVGet(at)
	if err != nil || !found {
		return latchwork.DidNotHappen, err
	}
	return latchwork.Happened(Kept{key}), nil
}

// Looks for the note under a key that the tool never writes.
func badFind(call *latchwork.Invocation, _ Note) (latchwork.Verdict, error) {
	return look(call.ExternalKey, call.ExternalKey)
}

func goodFind(call *latchwork.Invocation, _ Note) (latchwork.Verdict, error) {
	if call.Slot == "" || call.JobID == "" {
		return latchwork.Verdict{}, latchwork.Fail(latchwork.MissingRequiredContext, "the call has no slot or job")
	}
	return look("note-"+call.ExternalKey, call.ExternalKey)
}

// Answers "happened" without checking.
func badHope(call *latchwork.Invocation, _ Note) (latchwork.Verdict, error) {
	return latchwork.Happened(Kept{call.ExternalKey}), nil
}

// The tool is declared read-only, but it writes to the key-value map.
func badCounts(_ *latchwork.Invocation, note Note) (Kept, error) {
	return Kept{note.Text}, latchwork.KVSet(note.Text, []byte("seen"))
}

// An error is recorded, so the secret in its text is recorded too.
func badTells(_ *latchwork.Invocation, _ Note) (Kept, error) {
	token, err := latchwork.Secret("TOKEN")
	if err == nil {
		err = errors.New("the server does not know the token " + token)
	}
	return Kept{}, err
}

func goodTells(_ *latchwork.Invocation, _ Note) (Kept, error) {
	token, err := latchwork.Secret("TOKEN")
	if err == nil && token == "" {
		err = errors.New("there is no token")
	}
	return Kept{"x"}, err
}

func init() {
	reads := latchwork.Spec{Description: "For the corpus."}
	writes := latchwork.Spec{Description: "For the corpus.", Effects: []latchwork.Effect{latchwork.InternalWrite}}
	keyed := writes
	keyed.IdempotentByKey = 24 * time.Hour
	latchwork.Tool("Bad.Keyed", keyed, badKeyed)
	latchwork.Tool("Good.Keyed", keyed, goodKeyed)
	latchwork.Tool("Bad.Forgets", writes, keep).Reconcile(badFind)
	latchwork.Tool("Good.Asked", writes, keep).Reconcile(goodFind)
	latchwork.Tool("Bad.Invents", writes, keep).Reconcile(badHope)
	latchwork.Tool("Bad.Counts", reads, badCounts)
	latchwork.Tool("Bad.Tells", reads, badTells)
	latchwork.Tool("Good.Tells", reads, goodTells)
}

func main() {}
