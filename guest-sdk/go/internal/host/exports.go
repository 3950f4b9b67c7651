//go:build wasip1

package host

// These functions are the exports of the component. The build renames them to their names in the WIT world.

// give returns a pointer to the result of an export. The result stays allocated until the instance ends, because an
// instance serves only one call.
func give(a area) uint32 {
	kept = append(kept, a)
	return a.pointer()
}

func result(size uint32, err *Error, put func(area)) uint32 {
	a := newArea(max(size, resultSize))
	if err != nil {
		a.putU8(0, 1)
		a.plus(4).putError(err)
	} else {
		put(a.plus(4))
	}
	return give(a)
}

//go:wasmexport latch_describe
func describe() uint32 {
	Plugin.Register()
	version, operators := Plugin.Describe()
	a := newArea(16)
	a.putStr(0, version)
	putItems(a, 8, 100, operators, area.putOperator)
	return give(a)
}

//go:wasmexport latch_run
func run(name, nameSize, in, inSize uint32) uint32 {
	operator, input := text(name, nameSize), text(in, inSize)
	taken()
	Plugin.Register()
	output, err := Plugin.Run(operator, input)
	return result(resultSize, err, func(a area) { a.putStr(0, output) })
}

//go:wasmexport latch_invoke
func invoke(name, nameSize, in, inSize uint32) uint32 {
	operator, args := text(name, nameSize), text(in, inSize)
	taken()
	Plugin.Register()
	output, err := Plugin.Invoke(operator, args)
	return result(4+outputSize, err, func(a area) { a.putOutput(output) })
}

//go:wasmexport latch_reconcile
func reconcile(name, nameSize, key, keySize, in, inSize uint32) uint32 {
	operator, external, args := text(name, nameSize), text(key, keySize), text(in, inSize)
	taken()
	Plugin.Register()
	verdict, err := Plugin.Reconcile(operator, external, args)
	return result(8+outputSize, err, func(a area) {
		a.putU8(0, verdict.Tag)
		switch verdict.Tag {
		case 0:
			a.plus(4).putOutput(verdict.Output)
		case 2:
			a.putU32(4, verdict.RetryAfterMs)
		}
	})
}

//go:wasmexport latch_verify
func verify(at uint32) uint32 {
	params := area{pointer(at)}
	operator, change := params.str(0), params.plus(8).change()
	taken()
	Plugin.Register()
	mismatch, err := Plugin.Verify(operator, change)
	return result(resultSize, err, func(a area) {
		if mismatch != nil {
			a.putU8(0, 1)
			a.putStr(4, *mismatch)
		}
	})
}

//go:wasmexport latch_compensate
func compensate(name, nameSize, key, keySize, in, inSize, done, doneSize uint32) uint32 {
	operator, external, args, answer := text(name, nameSize), text(key, keySize), text(in, inSize), text(done, doneSize)
	taken()
	Plugin.Register()
	output, err := Plugin.Compensate(operator, external, args, answer)
	return result(4+outputSize, err, func(a area) { a.putOutput(output) })
}
