package main

import (
	"strings"

	"latchwork"
)

type Resource struct {
	Name   string            `json:"name"`
	Team   string            `json:"team"`
	Labels map[string]string `json:"labels,omitempty"`
}

type Labelled struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels"`
	Added  int               `json:"added"`
}

func init() {
	latchwork.Step("Resource.Label", latchwork.Spec{
		Description: "Adds the labels to a resource that every resource has.",
		Determinism: latchwork.Pure,
	}, label)
}

func label(_ latchwork.Context, resource Resource) (Labelled, error) {
	name := strings.TrimSpace(resource.Name)
	if name == "" {
		return Labelled{}, latchwork.Fail(latchwork.InvalidInput, "the resource has no name")
	}
	kind, _, _ := strings.Cut(name, "-")
	labels := resource.Labels
	added := 0
	for key, value := range map[string]string{"team": strings.ToLower(resource.Team), "kind": kind} {
		if labels[key] == "" {
			labels[key] = value
			added++
		}
	}
	return Labelled{name, labels, added}, nil
}

// main is empty: the host calls the operators.
func main() {}
