//go:build !wasip1

// Package latchtest stands in for the host, so that `go test` runs operators without Wasm.
package latchtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"latchwork"
	"latchwork/internal/host"
)

// Logged is a log record: trace, debug, info, warn or error.
type Logged struct{ Level, Message string }

// Called is a call of a tool, with its arguments as JSON.
type Called struct{ Operator, Args string }

// Host is a host with a fixed clock and nothing granted. Its zero value is one.
type Host struct {
	// What latchwork.Now says; a day of 2025 where it is not set.
	Time time.Time
	// What tools answer, by operator: it is given the arguments as JSON.
	Tools map[string]func(args json.RawMessage) (any, error)
	// What latch.toml would say. A nil KV is not granted.
	Configuration map[string]any
	Secrets       map[string]string
	KV            map[string][]byte
	// The key of the call, for tools.
	ExternalKey string

	// What was done.
	Calls  []Called
	Events []Called
	Logs   []Logged
}

// Run runs a step's operator on a value, JSON in between as under the host, and reads its output.
func (h *Host) Run(operator string, input, output any) error {
	return h.under(func() error {
		if host.Plugin.Run == nil {
			return errors.New("the plugin has no step")
		}
		text, failed := host.Plugin.Run(operator, jsonOf(input))
		return read(text, failed, output)
	})
}

// Invoke runs a tool's operator and reads its result; gives the changes that it took down.
func (h *Host) Invoke(operator string, args, result any) (changes []latchwork.Change, err error) {
	err = h.under(func() error {
		if host.Plugin.Invoke == nil {
			return errors.New("the plugin has no tool")
		}
		output, failed := host.Plugin.Invoke(operator, jsonOf(args))
		changes = changed(output)
		return read(output.Result, failed, result)
	})
	return changes, err
}

// Reconcile asks whether the call with this key happened: "happened", "did-not-happen", "not-yet" or "unknown".
func (h *Host) Reconcile(operator, key string, args, result any) (verdict string, err error) {
	err = h.under(func() error {
		answer, failed := host.Plugin.Reconcile(operator, key, jsonOf(args))
		verdict = []string{"happened", "did-not-happen", "not-yet", "unknown"}[answer.Tag]
		if failed == nil && answer.Tag != 0 {
			return nil
		}
		return read(answer.Output.Result, failed, result)
	})
	return verdict, err
}

// Compensate undoes the call that had these arguments, this result and this key.
func (h *Host) Compensate(operator, key string, args, result any) error {
	return h.under(func() error {
		_, failed := host.Plugin.Compensate(operator, key, jsonOf(args), jsonOf(result))
		return read("null", failed, nil)
	})
}

// Verify gives "" where a change is as it was recorded, else what was found.
func (h *Host) Verify(operator string, change latchwork.Change) (found string, err error) {
	err = h.under(func() error {
		mismatch, failed := host.Plugin.Verify(operator, host.Change{
			ResourceType: change.ResourceType, ResourceID: change.ResourceID, Operation: change.Operation,
			Version: optional(change.Version), ETag: optional(change.ETag), ExternalRef: optional(change.ExternalRef),
		})
		if mismatch != nil {
			found = *mismatch
		}
		return read("null", failed, nil)
	})
	return found, err
}

func (h *Host) under(serve func() error) error {
	before := host.Current
	host.Current = (*standIn)(h)
	defer func() { host.Current = before }()
	return serve()
}

func jsonOf(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("what the test gives is not JSON: %v", err))
	}
	return string(text)
}

func read(text string, failed *host.Error, into any) error {
	if failed != nil {
		return latchwork.FailureOf(failed)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal([]byte(text), into)
}

func changed(output host.Output) (changes []latchwork.Change) {
	for _, c := range output.Changes {
		changes = append(changes, latchwork.Change{
			ResourceType: c.ResourceType, ResourceID: c.ResourceID, Operation: c.Operation,
			Version: value(c.Version), ETag: value(c.ETag), ExternalRef: value(c.ExternalRef),
		})
	}
	return changes
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
