package main

import (
	"errors"
	"testing"

	"latchwork"
	"latchwork/latchtest"
)

func TestKeptNoteIsFoundByReconcile(t *testing.T) {
	host := latchtest.Host{KV: map[string][]byte{}, ExternalKey: "latch:j:s1:1"}
	var made Kept
	verdict, err := host.Reconcile("{{Noun}}.Keep", "latch:j:s1:1", Note{"hello"}, nil)
	if verdict != "did-not-happen" || err != nil {
		t.Fatal(verdict, err)
	}
	changes, err := host.Invoke("{{Noun}}.Keep", Note{"hello"}, &made)
	if err != nil || made.Key != "latch:j:s1:1" || len(changes) != 1 {
		t.Fatal(made, changes, err)
	}
	verdict, err = host.Reconcile("{{Noun}}.Keep", "latch:j:s1:1", Note{"hello"}, &made)
	if verdict != "happened" || err != nil {
		t.Fatal(verdict, err)
	}
}

func TestWithoutAGrantTheToolIsDenied(t *testing.T) {
	var host latchtest.Host
	var failure *latchwork.Failure
	_, err := host.Invoke("{{Noun}}.Keep", Note{"hello"}, nil)
	if !errors.As(err, &failure) || failure.Code != latchwork.PolicyDenied {
		t.Errorf("%v", err)
	}
}
