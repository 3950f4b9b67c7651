// Package latchwork is the SDK for Latchwork plugins in Go. README.md in this folder has examples and rules.
package latchwork

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"latchwork/internal/host"
)

// Context is the trace context of the job. The values are the same in every attempt of the job.
type Context struct {
	// Context is for libraries that take a context. It is never cancelled.
	context.Context
	Tenant, Actor, CorrelationID, JobID, PlanID, StepID string
}

// Invocation is the running call of a tool. It also records the changes, the receipt and the cost of the
// call.
type Invocation struct {
	Context
	// ExternalKey is the idempotency key for the downstream system. It is the same in every try of this call.
	ExternalKey string
	// TraceID is the trace id of the job. It is the same in every call and every try of the job, so it identifies no call.
	TraceID, Slot string
	// Attempt differs between tries and must not be part of a key. TriesBefore counts recorded earlier tries, also those
	// that certainly changed nothing. TriesBefore does not state whether an earlier try changed anything.
	Attempt, TriesBefore int
	Timeout              time.Duration

	output host.Output
	failed error
}

// Change is a change in the world. It must identify the resource precisely enough for a later check. Unknown
// fields stay empty.
type Change struct {
	ResourceType, ResourceID, Operation string
	Version, ETag, ExternalRef          string
}

// Usage is the cost of a call. CostMicroUSD is in millionths of a US dollar, Credits in the provider's own
// units.
type Usage struct {
	Model, ProviderTraceID                     string
	TokensIn, TokensOut, CostMicroUSD, Credits uint32
}

// Changed records a change in the world. It may be called several times.
func (i *Invocation) Changed(change Change) {
	i.output.Changes = append(i.output.Changes, host.Change{
		ResourceType: change.ResourceType, ResourceID: change.ResourceID, Operation: change.Operation,
		Version: optional(change.Version), ETag: optional(change.ETag), ExternalRef: optional(change.ExternalRef),
	})
}

// Receipt records the proof of the effect. Later requests for the same action get the receipt instead of a
// second execution.
func (i *Invocation) Receipt(receipt any) {
	text, err := encode(receipt)
	if err != nil {
		i.failed = fmt.Errorf("receipt: %w", err)
		return
	}
	i.output.Receipt = &text
}

// Used records the cost of the call.
func (i *Invocation) Used(usage Usage) {
	i.output.Usage = &host.Usage{
		Model: optional(usage.Model), ProviderTraceID: optional(usage.ProviderTraceID),
		TokensIn: usage.TokensIn, TokensOut: usage.TokensOut,
		CostMicroUSD: usage.CostMicroUSD, Credits: usage.Credits,
	}
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Now returns time.Now() in a component, and the time of the test host in a test.
func Now() time.Time { return host.Now() }

// UUID returns a random UUID from crypto/rand.
func UUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Emit appends an informational event for consumers outside the host.
func Emit(name string, payload any) error {
	text, err := encode(payload)
	if err != nil {
		return Fail(InvalidInput, "payload of %s: %w", name, err)
	}
	host.Emit(name, text)
	return nil
}

func contextOf(c host.Context) Context {
	return Context{
		context.Background(), c.Tenant, c.Actor, c.CorrelationID, c.JobID, c.PlanID, c.StepID,
	}
}

func invocation() *Invocation {
	i := host.GetInvocation()
	return &Invocation{
		Context: contextOf(host.GetContext()), ExternalKey: i.ExternalKey, TraceID: i.TraceID, Slot: i.Slot,
		Attempt: int(i.Attempt), TriesBefore: int(i.TriesBefore), Timeout: time.Duration(i.TimeoutMs) * time.Millisecond,
	}
}
