package main

import (
	"errors"
	"testing"

	"latchwork"
	"latchwork/latchtest"
)

func TestGreetsAPersonByName(t *testing.T) {
	var host latchtest.Host
	var made Greeting
	if err := host.Run("{{Noun}}.Greet", Person{"Ada"}, &made); err != nil {
		t.Fatal(err)
	}
	if made.Greeting != "Hello, Ada!" || len(made.ID) != 36 {
		t.Errorf("%+v", made)
	}
}

func TestRejectsAnEmptyName(t *testing.T) {
	var host latchtest.Host
	var failure *latchwork.Failure
	err := host.Run("{{Noun}}.Greet", Person{" "}, nil)
	if !errors.As(err, &failure) || failure.Code != latchwork.InvalidInput {
		t.Errorf("%v", err)
	}
}
