//go:build !wasip1

package host

import "time"

// StandIn is the interface of a test host. Package latchtest implements it.
type StandIn interface {
	Now() time.Time
	Log(level uint32, message string)
	Context() Context
	Invocation() Invocation
	Call(operator, args string, actionKey *string) Answer
	Emit(name, payload string)
	Config(key string) (string, bool)
	Secret(name string) (string, *Denied)
	KVGet(key string) ([]byte, bool, *Denied)
	KVSet(key string, value []byte) *Denied
	KVDelete(key string) (bool, *Denied)
}

// Current is the test host of the running test, or nil.
var Current StandIn

func ask(what string) StandIn {
	if Current == nil {
		panic(what + ": no host outside of a component; in a test, use latchtest.Host")
	}
	return Current
}

func Now() time.Time                   { return ask("latchwork.Now").Now() }
func GetContext() Context              { return ask("the context").Context() }
func GetInvocation() Invocation        { return ask("the invocation").Invocation() }
func Emit(name, payload string)        { ask("latchwork.Emit").Emit(name, payload) }
func Config(key string) (string, bool) { return ask("latchwork.Config").Config(key) }

func Log(level uint32, message string) { ask("a log record").Log(level, message) }

func Call(operator, args string, actionKey *string) Answer {
	return ask("latchwork.Call").Call(operator, args, actionKey)
}

func CallAll(requests []Request) []Answer {
	answers := make([]Answer, len(requests))
	for i, request := range requests {
		answers[i] = Call(request.Operator, request.Args, request.ActionKey)
	}
	return answers
}

func Secret(name string) (string, *Denied)     { return ask("latchwork.Secret").Secret(name) }
func KVGet(key string) ([]byte, bool, *Denied) { return ask("latchwork.KVGet").KVGet(key) }
func KVSet(key string, value []byte) *Denied   { return ask("latchwork.KVSet").KVSet(key, value) }
func KVDelete(key string) (bool, *Denied)      { return ask("latchwork.KVDelete").KVDelete(key) }

// Inside is true in a component and false in a native build.
const Inside = false

// Main does nothing in a native build.
func Main() {}
