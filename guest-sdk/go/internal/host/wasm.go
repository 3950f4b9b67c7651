//go:build wasip1

package host

import (
	"runtime"
	"time"
	_ "unsafe" // for go:linkname
)

//go:wasmimport latchwork:plugin/context@0.1.0 get
func contextGet(ret uint32)

//go:wasmimport latchwork:plugin/invocation@0.1.0 get
func invocationGet(ret uint32)

//go:wasmimport latchwork:plugin/log@0.1.0 write
func logWrite(level uint32, message string)

//go:wasmimport latchwork:plugin/events@0.1.0 emit
func eventsEmit(name, payload string)

//go:wasmimport latchwork:plugin/tools@0.1.0 call
func toolsCall(operator, args string, hasKey uint32, key string, ret uint32)

//go:wasmimport latchwork:plugin/tools@0.1.0 call-all
func toolsCallAll(requests, count uint32, ret uint32)

//go:wasmimport latchwork:plugin/config@0.1.0 get
func configGet(key string, ret uint32)

//go:wasmimport latchwork:plugin/secrets@0.1.0 get
func secretsGet(name string, ret uint32)

//go:wasmimport latchwork:plugin/kv@0.1.0 get
func kvGet(key string, ret uint32)

//go:wasmimport latchwork:plugin/kv@0.1.0 set
func kvSet(key, value string, ret uint32)

//go:wasmimport latchwork:plugin/kv@0.1.0 delete
func kvDelete(key string, ret uint32)

// hold(1) announces to the system call layer of the component that the host is passing data. The layer
// answers no system call of Go until hold(0).
//
//go:wasmimport wasi_snapshot_preview1 latch_hold
func hold(yes uint32)

// Now returns Go's own time. The build connects Go's clock to the clock of the host.
func Now() time.Time { return time.Now() }

// asked makes a host call with the function ask. The host writes the answer to an area of size bytes. The function read
// converts this area.
func asked[T any](size uint32, ask func(ret uint32), read func(area) T) T {
	a := newArea(size)
	hold(1)
	ask(a.pointer())
	hold(0)
	answer := read(a)
	runtime.KeepAlive(a.at)
	taken()
	return answer
}

func GetContext() Context {
	return asked(48, contextGet, func(a area) Context {
		return Context{a.str(0), a.str(8), a.str(16), a.str(24), a.str(32), a.str(40)}
	})
}

func GetInvocation() Invocation {
	return asked(36, invocationGet, func(a area) Invocation {
		return Invocation{a.str(0), a.str(8), a.str(16), a.u32(24), a.u32(28), a.u32(32)}
	})
}

func Log(level uint32, message string) { logWrite(level, message) }

func Emit(name, payload string) { eventsEmit(name, payload) }

func Call(operator, args string, actionKey *string) Answer {
	hasKey, key := uint32(0), ""
	if actionKey != nil {
		hasKey, key = 1, *actionKey
	}
	answer := asked(resultSize, func(ret uint32) { toolsCall(operator, args, hasKey, key, ret) }, area.answer)
	// Reads the time to update the clock of Go's runtime, because the answer of a call moves the host's clock.
	_ = time.Now()
	return answer
}

func CallAll(requests []Request) []Answer {
	list := newArea(8)
	putItems(list, 0, 28, requests, func(a area, request Request) {
		a.putStr(0, request.Operator)
		a.putStr(8, request.Args)
		a.putOptStr(16, request.ActionKey)
	})
	answers := asked(8, func(ret uint32) { toolsCallAll(list.u32(0), list.u32(4), ret) }, func(a area) []Answer {
		first := area{pointer(a.u32(0))}
		answers := make([]Answer, a.u32(4))
		for i := range answers {
			answers[i] = first.plus(resultSize * uint32(i)).answer()
		}
		return answers
	})
	kept = nil
	_ = time.Now()
	return answers
}

func Config(key string) (string, bool) {
	value := asked(12, func(ret uint32) { configGet(key, ret) }, func(a area) *string { return a.optStr(0) })
	if value == nil {
		return "", false
	}
	return *value, true
}

func Secret(name string) (value string, denied *Denied) {
	asked(12, func(ret uint32) { secretsGet(name, ret) }, func(a area) any {
		if a.u8(0) == 0 {
			value = a.str(4)
		} else {
			denied = &Denied{Tag: a.u8(4)}
		}
		return nil
	})
	return value, denied
}

// denied reads the error of a kv call. Only tag 2, unavailable, has a reason.
func (a area) denied() *Denied {
	if a.u8(0) == 0 {
		return nil
	}
	denied := &Denied{Tag: a.u8(4)}
	if denied.Tag == 2 {
		denied.Why = a.str(8)
	}
	return denied
}

func KVGet(key string) (value []byte, found bool, denied *Denied) {
	denied = asked(16, func(ret uint32) { kvGet(key, ret) }, func(a area) *Denied {
		if a.u8(0) == 0 && a.u8(4) == 1 {
			value, found = a.bytes(8), true
		}
		return a.denied()
	})
	return value, found, denied
}

func KVSet(key string, value []byte) *Denied {
	return asked(16, func(ret uint32) { kvSet(key, string(value), ret) }, area.denied)
}

func KVDelete(key string) (was bool, denied *Denied) {
	denied = asked(16, func(ret uint32) { kvDelete(key, ret) }, func(a area) *Denied {
		was = a.u8(0) == 0 && a.u8(4) == 1
		return a.denied()
	})
	return was, denied
}

// Inside is true in a component and false in a native build.
const Inside = true

// Main is the func main of the plugin. Go itself does not call Main in a component.
//
//go:linkname Main main.main
func Main()
