// Package host is what stands between the SDK and the host: the host's functions (wasm.go), the
// plugin's exports (exports.go), and, outside of a component, a stand-in for the host (native.go).
package host

// Error is why a call failed, as it crosses the border.
type Error struct {
	Code         uint8
	Message      string
	RetryAfterMs *uint32
	Detail       *string
	Unknown      bool
}

// Context is what steps and tools are told of their job.
type Context struct {
	Tenant, Actor, CorrelationID, JobID, PlanID, StepID string
}

// Invocation is what only a tool is told.
type Invocation struct {
	TraceID, Slot, ExternalKey      string
	Attempt, TriesBefore, TimeoutMs uint32
}

// Request is one call of a tool.
type Request struct {
	Operator, Args string
	ActionKey      *string
}

// Answer is what came of it: JSON, or an error.
type Answer struct {
	JSON  string
	Error *Error
}

// Denied is why kv or secrets did not answer.
type Denied struct {
	Tag uint8
	Why string
}

// Change is one change in the world.
type Change struct {
	ResourceType, ResourceID, Operation string
	Version, ETag, ExternalRef          *string
}

// Usage is what a call cost.
type Usage struct {
	Model, ProviderTraceID                     *string
	TokensIn, TokensOut, CostMicroUSD, Credits uint32
}

// Output is a tool's answer.
type Output struct {
	Result  string
	Receipt *string
	Changes []Change
	Usage   *Usage
}

// Verdict is whether a call in doubt happened: 0 it did, 1 it did not, 2 not yet, 3 unknown.
type Verdict struct {
	Tag          uint8
	Output       Output
	RetryAfterMs uint32
}

// Operator is one operator as the manifest has it.
type Operator struct {
	Name, Description, Input, Output    string
	Effects                             []uint8
	Determinism                         uint8
	OutcomeType, OutcomeStatus          *string
	IdempotentByKeySeconds, SettlingMs  uint32
	MemoryBytes, TimeoutMs, OutputBytes *uint32
}

// Plugin serves the exports; the SDK puts its functions here.
var Plugin struct {
	Register   func() // the operators, where that has not been done
	Describe   func() (version string, operators []Operator)
	Run        func(operator, input string) (string, *Error)
	Invoke     func(operator, args string) (Output, *Error)
	Reconcile  func(operator, key, args string) (Verdict, *Error)
	Verify     func(operator string, change Change) (mismatch *string, err *Error)
	Compensate func(operator, key, args, result string) (Output, *Error)
}
