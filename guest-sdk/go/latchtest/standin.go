//go:build !wasip1

package latchtest

import (
	"encoding/json"
	"fmt"
	"time"

	"latchwork"
	"latchwork/internal/host"
)

// standIn implements the functions of the host.
type standIn Host

func (s *standIn) Now() time.Time {
	if s.Time.IsZero() {
		return time.Unix(1_763_766_000, 0).UTC()
	}
	return s.Time
}

func (s *standIn) Log(level uint32, message string) {
	s.Logs = append(s.Logs, Logged{[]string{"trace", "debug", "info", "warn", "error"}[level], message})
}

func (*standIn) Context() host.Context {
	return host.Context{
		Tenant: "default", Actor: "ada", CorrelationID: "cor_test", JobID: "job_test", PlanID: "test", StepID: "s1",
	}
}

func (s *standIn) Invocation() host.Invocation {
	key := s.ExternalKey
	if key == "" {
		key = "latch:job_test:s1:1"
	}
	return host.Invocation{TraceID: "trace_test", Slot: "s1", ExternalKey: key, Attempt: 1, TimeoutMs: 30_000}
}

func (s *standIn) Call(operator, args string, _ *string) host.Answer {
	s.Calls = append(s.Calls, Called{operator, args})
	tool, found := s.Tools[operator]
	if !found {
		err := latchwork.Fail(latchwork.DependencyUnavailable, "the test host has no tool %s: add it to Host.Tools", operator)
		return host.Answer{Error: latchwork.ErrorOf(err)}
	}
	answer, err := tool(json.RawMessage(args))
	if err != nil {
		return host.Answer{Error: latchwork.ErrorOf(err)}
	}
	return host.Answer{JSON: jsonOf(answer)}
}

func (s *standIn) Emit(name, payload string) { s.Events = append(s.Events, Called{name, payload}) }

func (s *standIn) Config(key string) (string, bool) {
	value, found := s.Configuration[key]
	if !found {
		return "", false
	}
	return fmt.Sprint(jsonOf(value)), true
}

func (s *standIn) Secret(name string) (string, *host.Denied) {
	value, found := s.Secrets[name]
	if !found {
		return "", &host.Denied{}
	}
	return value, nil
}

func (s *standIn) KVGet(key string) ([]byte, bool, *host.Denied) {
	if s.KV == nil {
		return nil, false, &host.Denied{}
	}
	value, found := s.KV[key]
	return value, found, nil
}

func (s *standIn) KVSet(key string, value []byte) *host.Denied {
	if s.KV == nil {
		return &host.Denied{}
	}
	s.KV[key] = append([]byte{}, value...)
	return nil
}

func (s *standIn) KVDelete(key string) (bool, *host.Denied) {
	if s.KV == nil {
		return false, &host.Denied{}
	}
	_, found := s.KV[key]
	delete(s.KV, key)
	return found, nil
}
