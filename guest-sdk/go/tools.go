package latchwork

import "latchwork/internal/host"

// Request is a call for CallAll.
type Request struct {
	Operator string
	Args     any
	// ActionKey identifies the action across jobs. A second job with the same key gets the receipt of the
	// first job.
	ActionKey string
}

// Call calls a tool and waits for its final answer. The call takes effect at most once. The host itself retries a
// failed call, records the final answer, and returns the recorded answer from then on. An error is a *Failure and is
// also final. Available only in steps.
func Call[Out any](operator string, args any, actionKey ...string) (out Out, err error) {
	request := Request{Operator: operator, Args: args}
	if len(actionKey) > 0 {
		request.ActionKey = actionKey[0]
	}
	made, err := request.made()
	if err != nil {
		return out, err
	}
	err = Answer{operator, host.Call(made.Operator, made.Args, made.ActionKey)}.Into(&out)
	return out, err
}

// CallAll calls several tools concurrently. The answers come in the order of the requests. Available only in steps.
func CallAll(requests ...Request) ([]Answer, error) {
	made := make([]host.Request, len(requests))
	for i, request := range requests {
		var err error
		if made[i], err = request.made(); err != nil {
			return nil, err
		}
	}
	if len(made) == 0 {
		return nil, nil
	}
	answers := make([]Answer, len(requests))
	for i, answer := range host.CallAll(made) {
		answers[i] = Answer{requests[i].Operator, answer}
	}
	return answers, nil
}

// Answer is the answer to one call of CallAll.
type Answer struct {
	operator string
	answer   host.Answer
}

// Into reads the answer into a value. It returns the *Failure of the call if the call failed.
func (a Answer) Into(out any) error {
	if a.answer.Error != nil {
		return fromHost(a.answer.Error)
	}
	if err := decode(a.answer.JSON, out); err != nil {
		return Fail(SchemaValidationFailed, "unexpected answer of %s: %w", a.operator, err)
	}
	return nil
}

func (r Request) made() (host.Request, error) {
	text, err := encode(r.Args)
	if err != nil {
		return host.Request{}, Fail(InvalidInput, "arguments of %s: %w", r.Operator, err)
	}
	return host.Request{Operator: r.Operator, Args: text, ActionKey: optional(r.ActionKey)}, nil
}
