//go:build wasip1

package host

// Memory layouts of the records of latchwork:plugin/types: sizes and field offsets in bytes.

const (
	errorSize  = 36
	resultSize = 4 + errorSize // size of a result whose ok value is not larger than its error
	changeSize = 60
	outputSize = 72
)

func (a area) error() *Error {
	return &Error{
		Code:         a.u8(0),
		Message:      a.str(4),
		RetryAfterMs: a.optU32(12),
		Detail:       a.optStr(20),
		Unknown:      a.u8(32) == 1,
	}
}

func (a area) putError(e *Error) {
	a.putU8(0, e.Code)
	a.putStr(4, e.Message)
	a.putOptU32(12, e.RetryAfterMs)
	a.putOptStr(20, e.Detail)
	if e.Unknown {
		a.putU8(32, 1)
	}
}

func (a area) answer() Answer {
	if a.u8(0) == 0 {
		return Answer{JSON: a.str(4)}
	}
	return Answer{Error: a.plus(4).error()}
}

func (a area) change() Change {
	return Change{a.str(0), a.str(8), a.str(16), a.optStr(24), a.optStr(36), a.optStr(48)}
}

func (a area) putChange(c Change) {
	a.putStr(0, c.ResourceType)
	a.putStr(8, c.ResourceID)
	a.putStr(16, c.Operation)
	a.putOptStr(24, c.Version)
	a.putOptStr(36, c.ETag)
	a.putOptStr(48, c.ExternalRef)
}

func (a area) putOutput(o Output) {
	a.putStr(0, o.Result)
	a.putOptStr(8, o.Receipt)
	putItems(a, 20, changeSize, o.Changes, area.putChange)
	if u := o.Usage; u != nil {
		a.putU8(28, 1)
		a.putOptStr(32, u.Model)
		a.putOptStr(44, u.ProviderTraceID)
		a.putU32(56, u.TokensIn)
		a.putU32(60, u.TokensOut)
		a.putU32(64, u.CostMicroUSD)
		a.putU32(68, u.Credits)
	}
}

func (a area) putOperator(o Operator) {
	a.putStr(0, o.Name)
	a.putStr(8, o.Description)
	a.putStr(16, o.Input)
	a.putStr(24, o.Output)
	putItems(a, 32, 1, o.Effects, func(at area, effect uint8) { at.putU8(0, effect) })
	a.putU8(40, o.Determinism)
	a.putOptStr(44, o.OutcomeType)
	a.putOptStr(56, o.OutcomeStatus)
	a.putU32(68, o.IdempotentByKeySeconds)
	a.putU32(72, o.SettlingMs)
	a.putOptU32(76, o.MemoryBytes)
	a.putOptU32(84, o.TimeoutMs)
	a.putOptU32(92, o.OutputBytes)
}
