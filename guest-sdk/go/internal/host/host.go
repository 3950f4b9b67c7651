// Package host connects the SDK and the host: the imports of the component (wasm.go), its exports
// (exports.go), and a test stand-in for native builds (native.go).
package host

// Error is the failure of a call in the form of the WIT interface.
type Error struct {
	Code         uint8
	Message      string
	RetryAfterMs *uint32
	Detail       *string
	Unknown      bool
}

// Context is the trace context of the job, for steps and tools.
type Context struct {
	Tenant, Actor, CorrelationID, JobID, PlanID, StepID string
}

// Invocation is the part of the trace context that only tools get.
type Invocation struct {
	TraceID, Slot, ExternalKey      string
	Attempt, TriesBefore, TimeoutMs uint32
}

// Request is a call of a tool.
type Request struct {
	Operator, Args string
	ActionKey      *string
}

// Answer is the answer to a tool call: JSON text or an error.
type Answer struct {
	JSON  string
	Error *Error
}

// Denied is the error of a kv or secrets call.
type Denied struct {
	Tag uint8
	Why string
}

// Change is a change in the world.
type Change struct {
	ResourceType, ResourceID, Operation string
	Version, ETag, ExternalRef          *string
}

// Usage is the cost of a call.
type Usage struct {
	Model, ProviderTraceID                     *string
	TokensIn, TokensOut, CostMicroUSD, Credits uint32
}

// Output is the answer of a tool.
type Output struct {
	Result  string
	Receipt *string
	Changes []Change
	Usage   *Usage
}

// Verdict states whether a call in doubt happened: 0 happened, 1 did not happen, 2 not yet, 3 unknown.
type Verdict struct {
	Tag          uint8
	Output       Output
	RetryAfterMs uint32
}

// Operator is an operator in the form of the manifest.
type Operator struct {
	Name, Description, Input, Output    string
	Effects                             []uint8
	Determinism                         uint8
	OutcomeType, OutcomeStatus          *string
	IdempotentByKeySeconds, SettlingMs  uint32
	MemoryBytes, TimeoutMs, OutputBytes *uint32
}

// Plugin holds the functions that serve the exports. The SDK sets them.
var Plugin struct {
	Register   func() // registers the operators unless they are registered already
	Describe   func() (version string, operators []Operator)
	Run        func(operator, input string) (string, *Error)
	Invoke     func(operator, args string) (Output, *Error)
	Reconcile  func(operator, key, args string) (Verdict, *Error)
	Verify     func(operator string, change Change) (mismatch *string, err *Error)
	Compensate func(operator, key, args, result string) (Output, *Error)
}
