package latchwork

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"strings"
	"time"

	"latchwork/internal/host"
)

// Code is one of the ten failure codes of plugins. The host may retry a call that fails with one of the first five
// codes. The other codes are final.
type Code string

const (
	NetworkTimeout         Code = "NETWORK_TIMEOUT"
	RateLimit              Code = "RATE_LIMIT"
	TemporaryProviderError Code = "TEMPORARY_PROVIDER_ERROR"
	TransientDBLock        Code = "TRANSIENT_DB_LOCK"
	DependencyUnavailable  Code = "DEPENDENCY_UNAVAILABLE"
	PolicyDenied           Code = "POLICY_DENIED"
	InvalidInput           Code = "INVALID_INPUT"
	SchemaValidationFailed Code = "SCHEMA_VALIDATION_FAILED"
	MissingRequiredContext Code = "MISSING_REQUIRED_CONTEXT"
	AuthForbidden          Code = "AUTH_FORBIDDEN"
)

// codes lists the codes in the order of latchwork:plugin/types. If unknown is true, a call that failed with
// the code may have changed the world. Failure.Applied overrides this default.
var codes = []struct {
	code    Code
	unknown bool
}{
	{NetworkTimeout, true}, {RateLimit, false}, {TemporaryProviderError, true}, {TransientDBLock, false},
	{DependencyUnavailable, true}, {PolicyDenied, false}, {InvalidInput, false}, {SchemaValidationFailed, true},
	{MissingRequiredContext, false}, {AuthForbidden, false},
}

// Applied states whether the failed call may have changed the world.
type Applied string

const (
	// AppliedNo: the call changed nothing. The host may execute it again.
	AppliedNo Applied = "no"
	// AppliedUnknown: the outcome is unknown. The call is in doubt.
	AppliedUnknown Applied = "unknown"
)

// Failure is an error with a code. Operators return a Failure, wrapped or not. Failed tool calls return one too.
type Failure struct {
	Code    Code
	Message string
	// RetryAfter replaces the host's backoff. Zero leaves the backoff to the host.
	RetryAfter time.Duration
	// Detail is further information, serialized as JSON.
	Detail any
	// Applied overrides the default of the code, unless Applied is empty.
	Applied Applied

	cause error
}

func (f *Failure) Error() string { return f.Message }

// Unwrap returns the error that was wrapped with %w.
func (f *Failure) Unwrap() error { return f.cause }

// Fail returns a Failure. The message has the syntax of fmt.Errorf.
func Fail(code Code, format string, values ...any) *Failure {
	err := fmt.Errorf(format, values...)
	return &Failure{Code: code, Message: err.Error(), cause: errors.Unwrap(err)}
}

func number(code Code) (uint8, bool) {
	for i, known := range codes {
		if known.code == code {
			return uint8(i), true
		}
	}
	return 0, false
}

// described converts the error of an operator for the host. An error that is not a Failure is a defect of the
// operator.
func described(err error, mayHaveChanged bool) *host.Error {
	var failure *Failure
	if !errors.As(err, &failure) {
		return unhandled(err.Error(), fmt.Sprintf(`{"error":%s}`, quoted(fmt.Sprintf("%T", err))), mayHaveChanged)
	}
	code, known := number(failure.Code)
	if !known {
		message := fmt.Sprintf("invalid failure code %q: %s", failure.Code, err)
		return unhandled(message, "{}", mayHaveChanged)
	}
	// The message includes the wrapping errors, because they state the location of the failure.
	made := &host.Error{Code: code, Message: clean(err.Error()), Unknown: codes[code].unknown}
	if failure.Applied != "" {
		made.Unknown = failure.Applied != AppliedNo
	}
	if failure.RetryAfter > 0 {
		made.RetryAfterMs = milliseconds(failure.RetryAfter)
	}
	if failure.Detail != nil {
		detail, problem := encode(failure.Detail)
		if problem != nil {
			detail = quoted(fmt.Sprintf("(detail that is not JSON: %s)", problem))
		}
		made.Detail = &detail
	}
	return made
}

// panicked converts a panic for the host, with its text and stack.
func panicked(value any, mayHaveChanged bool) *host.Error {
	said := fmt.Sprint(value)
	detail := fmt.Sprintf(`{"panic":%s,"stack":%s}`, quoted(said), quoted(string(debug.Stack())))
	return unhandled("panic: "+said, detail, mayHaveChanged)
}

// unhandled returns the error for a defect of the operator. If the detail of an error has the key
// latchwork:exception, the host reports the error as PLUGIN_EXCEPTION.
func unhandled(message, said string, mayHaveChanged bool) *host.Error {
	detail := fmt.Sprintf(`{"latchwork:exception":%s}`, said)
	return &host.Error{Code: 6, Message: clean(message), Detail: &detail, Unknown: mayHaveChanged}
}

func fromHost(err *host.Error) *Failure {
	failure := &Failure{Message: err.Message, Applied: AppliedNo, Code: InvalidInput}
	if int(err.Code) < len(codes) {
		failure.Code = codes[err.Code].code
	}
	if err.Unknown {
		failure.Applied = AppliedUnknown
	}
	if err.RetryAfterMs != nil {
		failure.RetryAfter = time.Duration(*err.RetryAfterMs) * time.Millisecond
	}
	if err.Detail != nil {
		var detail any
		if decode(*err.Detail, &detail) != nil {
			detail = *err.Detail
		}
		failure.Detail = detail
	}
	return failure
}

func milliseconds(d time.Duration) *uint32 {
	rounded := (d + time.Millisecond - 1) / time.Millisecond
	n := uint32(min(max(rounded, 0), math.MaxUint32))
	return &n
}

// clean replaces invalid UTF-8. The host traps a component that passes text with invalid UTF-8.
func clean(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
