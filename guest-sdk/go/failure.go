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

// Code is one of the ten codes a plugin may fail with. The host retries the first five by itself.
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

// In the order of latchwork:plugin/types, and whether the world may have been changed where nothing
// else is said.
var codes = []struct {
	code    Code
	unknown bool
}{
	{NetworkTimeout, true}, {RateLimit, false}, {TemporaryProviderError, true}, {TransientDBLock, false},
	{DependencyUnavailable, true}, {PolicyDenied, false}, {InvalidInput, false}, {SchemaValidationFailed, true},
	{MissingRequiredContext, false}, {AuthForbidden, false},
}

// Applied says whether the world may have been changed by a call that failed.
type Applied string

const (
	// AppliedNo: certainly not, the host may execute the call again.
	AppliedNo Applied = "no"
	// AppliedUnknown: it cannot be told, and the call is in doubt.
	AppliedUnknown Applied = "unknown"
)

// Failure is an error with a code. Operators return one (wrapped or not), calls of tools give one.
type Failure struct {
	Code    Code
	Message string
	// RetryAfter wins over the host's backoff; zero leaves it to the host.
	RetryAfter time.Duration
	// Detail is anything else, as JSON.
	Detail any
	// Applied is what is usual for the code where it is empty.
	Applied Applied

	cause error
}

func (f *Failure) Error() string { return f.Message }

// Unwrap gives what was wrapped with %w.
func (f *Failure) Unwrap() error { return f.cause }

// Fail makes a Failure; the message is as fmt.Errorf makes it.
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

// What an operator returned, as the host takes it. An error that is no Failure is a mistake in the
// operator.
func described(err error, mayHaveChanged bool) *host.Error {
	var failure *Failure
	if !errors.As(err, &failure) {
		return unhandled(err.Error(), fmt.Sprintf(`{"error":%s}`, quoted(fmt.Sprintf("%T", err))), mayHaveChanged)
	}
	code, known := number(failure.Code)
	if !known {
		message := fmt.Sprintf("%q is no code of a failure: %s", failure.Code, err)
		return unhandled(message, "{}", mayHaveChanged)
	}
	// The whole of it: what wraps a failure says where it happened.
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

// A panic, with its text and where it came from.
func panicked(value any, mayHaveChanged bool) *host.Error {
	said := fmt.Sprint(value)
	detail := fmt.Sprintf(`{"panic":%s,"stack":%s}`, quoted(said), quoted(string(debug.Stack())))
	return unhandled("panic: "+said, detail, mayHaveChanged)
}

// A mistake in the operator, with the mark by which the host makes PLUGIN_EXCEPTION of it.
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

// A text that can leave: what is no UTF-8 would trap.
func clean(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
