//go:build !wasip1

// Package latchtest is a test host. With the test host, `go test` runs operators without Wasm.
package latchtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"latchwork"
	"latchwork/internal/host"
)

// Logged is a log record. Level is trace, debug, info, warn or error.
type Logged struct{ Level, Message string }

// Called is a call of a tool with its arguments as JSON, or an event with its payload as JSON.
type Called struct{ Operator, Args string }

// Host is a test host with a fixed clock and no grants. Its zero value is ready to use.
type Host struct {
	// Time is the result of latchwork.Now. The default is 2025-11-21T23:00:00Z.
	Time time.Time
	// Tools maps an operator to a function that answers its calls. args is the JSON of the arguments.
	Tools map[string]func(args json.RawMessage) (any, error)
	// Configuration, Secrets and KV replace the settings of latch.toml. If KV is nil, the kv grant is missing.
	Configuration map[string]any
	Secrets       map[string]string
	KV            map[string][]byte
	// ExternalKey is the external key of tool calls. The default is latch:job_test:s1:1.
	ExternalKey string

	// Calls, Events and Logs record the actions of the operators.
	Calls  []Called
	Events []Called
	Logs   []Logged
}

// Run runs a step operator. Like the host, it converts input and output from and to JSON.
func (h *Host) Run(operator string, input, output any) error {
	return h.under(func() error {
		if host.Plugin.Run == nil {
			return errors.New("the plugin registers no step")
		}
		text, failed := host.Plugin.Run(operator, jsonOf(input))
		return read(text, failed, output)
	})
}

// Invoke runs a tool operator, reads its result, and returns the changes that the operator recorded.
func (h *Host) Invoke(operator string, args, result any) (changes []latchwork.Change, err error) {
	err = h.under(func() error {
		if host.Plugin.Invoke == nil {
			return errors.New("the plugin registers no tool")
		}
		output, failed := host.Plugin.Invoke(operator, jsonOf(args))
		changes = changed(output)
		return read(output.Result, failed, result)
	})
	return changes, err
}

// Reconcile asks the operator whether the call with this key happened. The verdict is "happened",
// "did-not-happen", "not-yet" or "unknown".
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

// Compensate runs the operator's undo for the call that had these arguments, this result and this key.
func (h *Host) Compensate(operator, key string, args, result any) error {
	return h.under(func() error {
		_, failed := host.Plugin.Compensate(operator, key, jsonOf(args), jsonOf(result))
		return read("null", failed, nil)
	})
}

// Verify returns "" if a change is still in place, else a description of the state found.
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
		panic(fmt.Sprintf("a value of the test is not JSON: %v", err))
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
