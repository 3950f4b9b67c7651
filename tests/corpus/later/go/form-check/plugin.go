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
	Kind   string            `json:"kind"`
	Fields map[string]string `json:"fields"`
}

// limits has the fields of each kind of form with their greatest lengths.
var limits = map[string]map[string]int{
	"address": {"name": 60, "street": 80, "city": 40, "postal": 10, "country": 2},
	"bank":    {"name": 60, "iban": 34, "bic": 11},
}

func init() {
	latchwork.Step("Form.Check", latchwork.Spec{
		Description: "Checks the fields of a form and removes spaces around them.",
		Determinism: latchwork.Pure,
	}, check)
}

func check(_ latchwork.Context, form Form) (Checked, error) {
	known, found := limits[form.Kind]
	if !found {
		return Checked{}, latchwork.Fail(latchwork.InvalidInput, "there is no form %q", form.Kind)
	}
	fields := make(map[string]string, len(known))
	for name, length := range known {
		value := strings.TrimSpace(form.Fields[name])
		if value == "" {
			return Checked{}, latchwork.Fail(latchwork.InvalidInput, "%s is missing", name)
		}
		if len(value) > length {
			return Checked{}, latchwork.Fail(latchwork.InvalidInput, "%s is longer than %d bytes", name, length)
		}
		fields[name] = value
	}
	return Checked{form.Kind, fields}, nil
}

// main is empty: the host calls the operators.
func main() {}
