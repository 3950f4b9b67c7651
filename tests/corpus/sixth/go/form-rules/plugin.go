// Checks a form against the rules of its kind.
package main

import (
	"strings"

	"latchwork"
)

type Form struct {
	Kind   string            `json:"kind"`
	Fields map[string]string `json:"fields"`
}

type Checked struct {
	Kind   string `json:"kind"`
	Filled int    `json:"filled"`
}

type rule func(string) string

func filled(value string) string {
	if strings.TrimSpace(value) == "" {
		return "is empty"
	}
	return ""
}

func digits(value string) string {
	if value == "" || strings.Trim(value, "0123456789") != "" {
		return "is not a number"
	}
	return ""
}

var kinds = map[string]map[string]rule{
	"guest": {"name": filled, "room": digits},
	"car":   {"plate": filled, "owner": filled, "seats": digits},
}

func init() {
	latchwork.Step("Form.Check", latchwork.Spec{
		Description: "Checks a form against the rules of its kind.",
		Determinism: latchwork.Pure,
	}, check)
}

func check(_ latchwork.Context, form Form) (Checked, error) {
	rules, found := kinds[form.Kind]
	if !found {
		return Checked{}, latchwork.Fail(latchwork.InvalidInput, "no form is of the kind %q", form.Kind)
	}
	for field, holds := range rules {
		if wrong := holds(form.Fields[field]); wrong != "" {
			return Checked{}, latchwork.Fail(latchwork.InvalidInput, "%s %s", field, wrong)
		}
	}
	return Checked{form.Kind, len(rules)}, nil
}

// main is empty: the host calls the operators.
func main() {}
