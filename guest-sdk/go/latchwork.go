// Package latchwork writes Latchwork plugins in Go. README.md beside it has the whole story.
package latchwork

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"latchwork/internal/host"
)

// Context is what an operator is told of its job. Nothing in it differs between attempts.
type Context struct {
	// For libraries that want one. It is never cancelled.
	context.Context
	Tenant, Actor, CorrelationID, JobID, PlanID, StepID string
}

// Invocation is the running call of a tool, and takes down what it did.
type Invocation struct {
	Context
	// ExternalKey never changes for this call, whoever repeats it: send it downstream as the idempotency key.
	ExternalKey          string
	TraceID, Slot        string
	Attempt, TriesBefore int
	Timeout              time.Duration

	output host.Output
	failed error
}

// Change is one change in the world, precise enough to look it up again. What is not known stays empty.
type Change struct {
	ResourceType, ResourceID, Operation string
	Version, ETag, ExternalRef          string
}

// Usage is what a call cost.
type Usage struct {
	Model, ProviderTraceID                     string
	TokensIn, TokensOut, CostMicroUSD, Credits uint32
}

// Changed takes down a change in the world.
func (i *Invocation) Changed(change Change) {
	i.output.Changes = append(i.output.Changes, host.Change{
		ResourceType: change.ResourceType, ResourceID: change.ResourceID, Operation: change.Operation,
		Version: optional(change.Version), ETag: optional(change.ETag), ExternalRef: optional(change.ExternalRef),
	})
}

// Receipt takes down the proof of the effect, which is given instead of repeating it.
func (i *Invocation) Receipt(receipt any) {
	text, err := encode(receipt)
	if err != nil {
		i.failed = fmt.Errorf("the receipt: %w", err)
		return
	}
	i.output.Receipt = &text
}

// Used takes down what the call cost.
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

// Now is time.Now, except in a test, where it is the stand-in's clock.
func Now() time.Time { return host.Now() }

// UUID gives a random UUID, of crypto/rand.
func UUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Emit appends an informational event for consumers outside.
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
