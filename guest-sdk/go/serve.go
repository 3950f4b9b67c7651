package latchwork

import (
	"log/slog"

	"latchwork/internal/host"
)

func init() {
	// Calls main, because a plugin may register its operators in main and Go does not call main in a component.
	host.Plugin.Register = func() {
		if len(operators) == 0 {
			host.Main()
		}
	}
	host.Plugin.Describe = func() (string, []host.Operator) {
		specs := []host.Operator{}
		for _, one := range operators {
			specs = append(specs, one.spec)
		}
		return version, specs
	}
}

// Step calls serveSteps, and Tool calls serveTools, so that a component imports only the functions of its own kind.
func serveSteps() {
	host.Plugin.Run = func(name, input string) (string, *host.Error) {
		return served(name, func(one *operator) (string, error) {
			if one.run == nil {
				return "", Fail(InvalidInput, "%s is a tool, not a step", name)
			}
			return one.run(contextOf(host.GetContext()), input)
		})
	}
}

func serveTools() {
	host.Plugin.Invoke = func(name, args string) (host.Output, *host.Error) {
		return served(name, func(one *operator) (host.Output, error) {
			if one.invoke == nil {
				return host.Output{}, Fail(InvalidInput, "%s is a step, not a tool", name)
			}
			call := invocation()
			err := one.invoke(call, args)
			return call.output, err
		})
	}
	host.Plugin.Reconcile = func(name, key, args string) (host.Verdict, *host.Error) {
		return served(name, func(one *operator) (host.Verdict, error) {
			if one.reconcile == nil {
				return host.Verdict{Tag: Unknown.tag}, nil
			}
			call := asked(key)
			verdict, err := one.reconcile(call, args)
			if err != nil {
				return host.Verdict{}, err
			}
			made := host.Verdict{Tag: verdict.tag, Output: call.output, RetryAfterMs: *milliseconds(verdict.wait)}
			if verdict.tag == 0 {
				made.Output.Result, err = given(name, verdict.result)
			}
			return made, err
		})
	}
	host.Plugin.Verify = func(name string, change host.Change) (*string, *host.Error) {
		return served(name, func(one *operator) (*string, error) {
			if one.verify == nil {
				return nil, Fail(DependencyUnavailable, "%s has no Verify handler", name)
			}
			found, err := one.verify(invocation(), Change{
				change.ResourceType, change.ResourceID, change.Operation,
				known(change.Version), known(change.ETag), known(change.ExternalRef),
			})
			return optional(clean(found)), err
		})
	}
	host.Plugin.Compensate = func(name, key, args, result string) (host.Output, *host.Error) {
		return served(name, func(one *operator) (host.Output, error) {
			if one.compensate == nil {
				return host.Output{}, Fail(InvalidInput, "%s cannot be undone: it has no Compensate handler", name)
			}
			call := asked(key)
			err := one.compensate(call, args, result)
			return call.output, err
		})
	}
}

// asked returns the current invocation with this external key, for the handlers that reconcile or undo the call.
func asked(key string) *Invocation {
	call := invocation()
	call.ExternalKey = key
	return call
}

func known(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// served serves one call and converts a returned error or a panic for the host.
func served[T any](name string, serve func(*operator) (T, error)) (answer T, failed *host.Error) {
	one := find(name)
	if one == nil {
		return answer, described(Fail(InvalidInput, "this plugin has no operator %s", name), false)
	}
	before := slog.Default()
	slog.SetDefault(slog.New(&records{}))
	defer slog.SetDefault(before)
	defer func() {
		if value := recover(); value != nil {
			failed = panicked(value, one.changes)
		}
	}()
	answer, err := serve(one)
	if err != nil {
		return answer, described(err, one.changes)
	}
	return answer, nil
}
