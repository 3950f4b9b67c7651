package latchwork

import (
	"fmt"
	"math"
	"time"

	"latchwork/internal/host"
)

// Effect is an effect that an operator may have on the world.
type Effect string

const (
	ReadOnly       Effect = "read_only"
	ProduceOutcome Effect = "produce_outcome"
	InternalWrite  Effect = "internal_write"
	ExternalWrite  Effect = "external_write"
	ExternalSend   Effect = "external_send"
)

var effects = []Effect{ReadOnly, ProduceOutcome, InternalWrite, ExternalWrite, ExternalSend}

// Determinism is the repeatability of an operator.
type Determinism string

const (
	// Pure: equal input gives byte-identical output. The default for steps.
	Pure Determinism = "pure"
	// Stable: for a step, it uses time, randomness, ids of its job or a model. For a tool, it asks a model, and its calls
	// count as calls that cost money.
	Stable Determinism = "stable"
	// External: answers change with the outside world. The default for tools.
	External Determinism = "external"
)

var determinisms = []Determinism{Pure, Stable, External}

// Limits are the limits that an operator requests. The configuration of the host has precedence.
type Limits struct {
	MemoryBytes, OutputBytes uint32
	Timeout                  time.Duration
}

// Spec is the description of an operator. Fields that are left out have the most restrictive default: a step
// without Determinism is pure, and a tool is external.
type Spec struct {
	// Description is one sentence for people.
	Description string
	// Input and Output are JSON Schemas. By default they are generated from the handler's types.
	Input, Output Schema
	Effects       []Effect
	Determinism   Determinism
	// OutcomeType and OutcomeStatus declare that the output is an outcome. OutcomeType is a name such as
	// "Draft.Email". OutcomeStatus is "draft" or "final".
	OutcomeType, OutcomeStatus string
	Limits                     Limits
	// IdempotentByKey is the time during which the downstream system drops duplicate requests with the same ExternalKey.
	// Zero means that the system drops no duplicates.
	IdempotentByKey time.Duration
	// Settling is the maximum time from the end of a call until Reconcile can see the effect of the call. It covers
	// transit, and queues and replicas of the downstream system.
	Settling time.Duration
}

type operator struct {
	spec       host.Operator
	changes    bool
	run        func(Context, string) (string, error)
	invoke     func(*Invocation, string) error
	reconcile  func(*Invocation, string) (Verdict, error)
	verify     func(*Invocation, Change) (string, error)
	compensate func(*Invocation, string, string) error
}

var operators []*operator

// version is set by `latch plugin build`.
var version = "0.0.0"

// Step registers the step operator name, in the form Noun.Verb, with its handler. Call Step from init or from
// main.
func Step[In, Out any](name string, spec Spec, handler func(Context, In) (Out, error)) {
	serveSteps()
	made := register[In, Out](name, spec, Pure)
	made.run = func(context Context, input string) (string, error) {
		var in In
		if err := taken(name, input, &in); err != nil {
			return "", err
		}
		out, err := handler(context, in)
		if err != nil {
			return "", err
		}
		return given(name, out)
	}
}

// ToolOperator is a registered tool. Its methods add the optional handlers for reconcile, verify and
// compensate.
type ToolOperator[In, Out any] struct{ made *operator }

// Tool registers the tool operator name, in the form Noun.Verb, with its handler. Call Tool from init or from
// main.
func Tool[In, Out any](name string, spec Spec, handler func(*Invocation, In) (Out, error)) ToolOperator[In, Out] {
	serveTools()
	made := register[In, Out](name, spec, External)
	made.invoke = func(invocation *Invocation, args string) error {
		var in In
		if err := taken(name, args, &in); err != nil {
			return err
		}
		out, err := handler(invocation, in)
		if err == nil {
			err = invocation.failed
		}
		if err == nil {
			invocation.output.Result, err = given(name, out)
		}
		return err
	}
	return ToolOperator[In, Out]{made}
}

// Reconcile sets the handler that finds out whether the call with invocation.ExternalKey happened. The
// handler has no right to write. latch-plugin.toml must have exports = ["reconcile"].
func (t ToolOperator[In, Out]) Reconcile(find func(*Invocation, In) (Verdict, error)) ToolOperator[In, Out] {
	t.made.reconcile = func(invocation *Invocation, args string) (Verdict, error) {
		var in In
		if err := taken(t.made.spec.Name, args, &in); err != nil {
			return Unknown, err
		}
		return find(invocation, in)
	}
	return t
}

// Verify sets the handler that checks a recorded change. The handler returns "" if the change is still in
// place, else a description of the state found. It returns an error if the check was not possible. The handler has no
// right to write. latch-plugin.toml must have exports = ["verify"].
func (t ToolOperator[In, Out]) Verify(check func(*Invocation, Change) (string, error)) ToolOperator[In, Out] {
	t.made.verify = check
	return t
}

// Compensate sets the handler that undoes the call with these arguments, this result and invocation.ExternalKey. The
// handler returns an error if the call can no longer be undone. After such an error, a person decides.
// latch-plugin.toml must have exports = ["compensate"].
func (t ToolOperator[In, Out]) Compensate(undo func(*Invocation, In, Out) error) ToolOperator[In, Out] {
	t.made.compensate = func(invocation *Invocation, args, result string) error {
		var in In
		var out Out
		if err := taken(t.made.spec.Name, args, &in); err != nil {
			return err
		}
		if err := taken(t.made.spec.Name, result, &out); err != nil {
			return err
		}
		err := undo(invocation, in, out)
		if err == nil {
			err = invocation.failed
		}
		invocation.output.Result = "null"
		return err
	}
	return t
}

// Verdict answers the question whether a call in doubt happened.
type Verdict struct {
	tag    uint8
	result any
	wait   time.Duration
}

var (
	// DidNotHappen: the call did not happen and never will.
	DidNotHappen = Verdict{tag: 1}
	// Unknown: the outcome cannot be determined.
	Unknown = Verdict{tag: 3}
)

// Happened: the call happened. Pass the result that the call itself would have returned. Record the changes of the call
// on the Invocation, as the call itself does.
func Happened(result any) Verdict { return Verdict{tag: 0, result: result} }

// NotYet: the outcome is not known yet. The host asks again after the given time.
func NotYet(wait time.Duration) Verdict { return Verdict{tag: 2, wait: wait} }

func register[In, Out any](name string, spec Spec, usual Determinism) *operator {
	wrong := func(format string, values ...any) {
		panic(fmt.Sprintf("operator %q: ", name) + fmt.Sprintf(format, values...))
	}
	if find(name) != nil {
		wrong("registered twice")
	}
	made := &operator{spec: host.Operator{
		Name: name, Description: spec.Description,
		Input: schemaText[In](spec.Input), Output: schemaText[Out](spec.Output),
		OutcomeType: optional(spec.OutcomeType), OutcomeStatus: optional(spec.OutcomeStatus),
		IdempotentByKeySeconds: uint32(min(spec.IdempotentByKey/time.Second, math.MaxUint32)),
		SettlingMs:             *milliseconds(spec.Settling),
	}}
	if spec.Effects == nil {
		spec.Effects = []Effect{ReadOnly}
		if spec.OutcomeType != "" {
			spec.Effects = []Effect{ProduceOutcome}
		}
	}
	for _, effect := range spec.Effects {
		tag := index(effects, effect)
		if tag < 0 {
			wrong("invalid effect %q: use one of %q", effect, effects)
		}
		made.changes = made.changes || tag >= 2
		made.spec.Effects = append(made.spec.Effects, uint8(tag))
	}
	if spec.Determinism == "" {
		spec.Determinism = usual
	}
	tag := index(determinisms, spec.Determinism)
	if tag < 0 {
		wrong("invalid determinism %q: use one of %q", spec.Determinism, determinisms)
	}
	made.spec.Determinism = uint8(tag)
	if spec.Limits.MemoryBytes > 0 {
		made.spec.MemoryBytes = &spec.Limits.MemoryBytes
	}
	if spec.Limits.OutputBytes > 0 {
		made.spec.OutputBytes = &spec.Limits.OutputBytes
	}
	if spec.Limits.Timeout > 0 {
		made.spec.TimeoutMs = milliseconds(spec.Limits.Timeout)
	}
	operators = append(operators, made)
	return made
}

func index[T comparable](known []T, one T) int {
	for i, candidate := range known {
		if candidate == one {
			return i
		}
	}
	return -1
}

func find(name string) *operator {
	for _, candidate := range operators {
		if candidate.spec.Name == name {
			return candidate
		}
	}
	return nil
}

func taken(name, text string, into any) error {
	if err := decode(text, into); err != nil {
		return Fail(InvalidInput, "invalid input of %s: %w", name, err)
	}
	return nil
}

func given(name string, out any) (string, error) {
	text, err := encode(out)
	if err != nil {
		return "", Fail(SchemaValidationFailed, "output of %s %w", name, err)
	}
	return text, nil
}
