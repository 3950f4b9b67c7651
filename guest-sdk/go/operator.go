package latchwork

import (
	"fmt"
	"math"
	"time"

	"latchwork/internal/host"
)

// Effect is what an operator may do to the world.
type Effect string

const (
	ReadOnly       Effect = "read_only"
	ProduceOutcome Effect = "produce_outcome"
	InternalWrite  Effect = "internal_write"
	ExternalWrite  Effect = "external_write"
	ExternalSend   Effect = "external_send"
)

var effects = []Effect{ReadOnly, ProduceOutcome, InternalWrite, ExternalWrite, ExternalSend}

// Determinism is how repeatable an operator is.
type Determinism string

const (
	// Pure: byte-identical for equal input. What a step is where nothing is said.
	Pure Determinism = "pure"
	// Stable: it uses time, chance or a model.
	Stable Determinism = "stable"
	// External: its answers change with the world. What a tool is where nothing is said.
	External Determinism = "external"
)

var determinisms = []Determinism{Pure, Stable, External}

// Limits that an operator wants; the host's configuration decides.
type Limits struct {
	MemoryBytes, OutputBytes uint32
	Timeout                  time.Duration
}

// Spec is what an operator says of itself. What is left out is as harmless as it can be.
type Spec struct {
	// One sentence for a person.
	Description string
	// Where they are left out, they are made of the handler's types.
	Input, Output Schema
	Effects       []Effect
	Determinism   Determinism
	// "Draft.Email" and "draft" or "final", where it produces an outcome.
	OutcomeType, OutcomeStatus string
	Limits                     Limits
	// How long the downstream system knows a call by its ExternalKey; zero where it does not.
	IdempotentByKey time.Duration
	// How long after a call ended its effect may still appear.
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

// Step serves the step operator name (Noun.Verb) with handler. Call it from init or from main.
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

// ToolOperator is a tool that was registered: what it accounts for its effects by is added to it.
type ToolOperator[In, Out any] struct{ made *operator }

// Tool serves the tool operator name (Noun.Verb) with handler. Call it from init or from main.
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

// Reconcile answers whether the call with invocation.ExternalKey happened; it changes nothing.
// latch-plugin.toml: exports = ["reconcile"].
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

// Verify answers "" where a recorded change is as it was recorded, else what was found; it changes
// nothing. latch-plugin.toml: exports = ["verify"].
func (t ToolOperator[In, Out]) Verify(check func(*Invocation, Change) (string, error)) ToolOperator[In, Out] {
	t.made.verify = check
	return t
}

// Compensate undoes the call that had these arguments, this result and invocation.ExternalKey.
// latch-plugin.toml: exports = ["compensate"].
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

// Verdict is whether a call in doubt happened.
type Verdict struct {
	tag    uint8
	result any
	wait   time.Duration
}

var (
	// DidNotHappen: it certainly did not, and never will.
	DidNotHappen = Verdict{tag: 1}
	// Unknown: it cannot be told.
	Unknown = Verdict{tag: 3}
)

// Happened: with this result. Changes are taken down as by the call itself.
func Happened(result any) Verdict { return Verdict{tag: 0, result: result} }

// NotYet: ask again after this time.
func NotYet(wait time.Duration) Verdict { return Verdict{tag: 2, wait: wait} }

func register[In, Out any](name string, spec Spec, usual Determinism) *operator {
	wrong := func(format string, values ...any) {
		panic(fmt.Sprintf("the operator %q: ", name) + fmt.Sprintf(format, values...))
	}
	if find(name) != nil {
		wrong("it is registered twice")
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
			wrong("%q is no effect: one of %q", effect, effects)
		}
		made.changes = made.changes || tag >= 2
		made.spec.Effects = append(made.spec.Effects, uint8(tag))
	}
	if spec.Determinism == "" {
		spec.Determinism = usual
	}
	tag := index(determinisms, spec.Determinism)
	if tag < 0 {
		wrong("%q is no determinism: one of %q", spec.Determinism, determinisms)
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
		return Fail(InvalidInput, "input of %s: %w", name, err)
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
