//go:build wasip1

package host

import "unsafe"

// given holds data of the host that the SDK has not read yet. kept holds data of the SDK that the host has not read
// yet. Without these variables, the garbage collector would free the data, because only the host points to it.
var given, kept []any

// room is a static buffer for host data. Data that fits into room needs no allocation.
//
// An allocation can run the garbage collector and the scheduler. Both make system calls, and while the host passes
// data, system calls get no answer.
var (
	room [64 << 10]uint64
	used uint32
)

//go:wasmexport cabi_realloc
func cabiRealloc(old, oldSize, align, size uint32) uint32 { return realloc(old, oldSize, align, size) }

//go:wasmexport latch_realloc
func realloc(old, oldSize, align, size uint32) uint32 {
	if size == 0 {
		return align
	}
	words := (size + 7) / 8
	var at unsafe.Pointer
	if words <= uint32(len(room))-used {
		at = unsafe.Pointer(&room[used])
		used += words
	} else {
		more := make([]uint64, words)
		given = append(given, more)
		at = unsafe.Pointer(unsafe.SliceData(more))
	}
	if oldSize > 0 {
		copy(unsafe.Slice((*byte)(at), size), unsafe.Slice((*byte)(pointer(old)), oldSize))
	}
	return uint32(uintptr(at))
}

// taken releases the host data after it has been read.
func taken() { given, used = nil, 0 }

func pointer(at uint32) unsafe.Pointer { return unsafe.Pointer(uintptr(at)) }

// area is a block of memory with values in the layout of the component model.
type area struct{ at unsafe.Pointer }

func newArea(size uint32) area {
	room := make([]uint64, (size+7)/8)
	return area{unsafe.Pointer(unsafe.SliceData(room))}
}

func (a area) pointer() uint32         { return uint32(uintptr(a.at)) }
func (a area) plus(offset uint32) area { return area{unsafe.Add(a.at, offset)} }

func (a area) u8(at uint32) uint8   { return *(*uint8)(unsafe.Add(a.at, at)) }
func (a area) u32(at uint32) uint32 { return *(*uint32)(unsafe.Add(a.at, at)) }

// str copies the string, because the memory of host data is reused after the call.
func (a area) str(at uint32) string { return text(a.u32(at), a.u32(at+4)) }
func (a area) bytes(at uint32) []byte {
	return append([]byte{}, unsafe.Slice((*byte)(pointer(a.u32(at))), a.u32(at+4))...)
}

func text(at, size uint32) string {
	return string(unsafe.Slice((*byte)(pointer(at)), size))
}

func (a area) optStr(at uint32) *string {
	if a.u8(at) == 0 {
		return nil
	}
	s := a.str(at + 4)
	return &s
}

func (a area) optU32(at uint32) *uint32 {
	if a.u8(at) == 0 {
		return nil
	}
	n := a.u32(at + 4)
	return &n
}

func (a area) putU8(at uint32, v uint8)   { *(*uint8)(unsafe.Add(a.at, at)) = v }
func (a area) putU32(at uint32, v uint32) { *(*uint32)(unsafe.Add(a.at, at)) = v }

func (a area) putList(at uint32, list unsafe.Pointer, count int) {
	a.putU32(at, uint32(uintptr(list)))
	a.putU32(at+4, uint32(count))
}

func (a area) putStr(at uint32, s string) {
	kept = append(kept, s)
	a.putList(at, unsafe.Pointer(unsafe.StringData(s)), len(s))
}

func (a area) putOptStr(at uint32, s *string) {
	if s != nil {
		a.putU8(at, 1)
		a.putStr(at+4, *s)
	}
}

func (a area) putOptU32(at uint32, n *uint32) {
	if n != nil {
		a.putU8(at, 1)
		a.putU32(at+4, *n)
	}
}

// putItems writes a list of items. size is the size of one item in bytes. put writes one item.
func putItems[T any](a area, at uint32, size uint32, items []T, put func(area, T)) {
	list := newArea(size * uint32(len(items)))
	kept = append(kept, list)
	for i, item := range items {
		put(list.plus(size*uint32(i)), item)
	}
	a.putList(at, list.at, len(items))
}
