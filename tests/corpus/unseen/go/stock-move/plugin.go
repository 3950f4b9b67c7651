package main

import (
	"strconv"
	"time"

	"latchwork"
)

type Move struct {
	Item  string `json:"item"`
	Count int    `json:"count"`
}

type Moved struct {
	Left int `json:"left"`
}

func init() {
	latchwork.Tool("Stock.Move", latchwork.Spec{
		Description: "Takes items out of the stock.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, move).Reconcile(find)
}

func moved(call *latchwork.Invocation, move Move, left int) Moved {
	call.Changed(latchwork.Change{ResourceType: "stock", ResourceID: move.Item, Operation: "update"})
	return Moved{left}
}

func move(call *latchwork.Invocation, move Move) (Moved, error) {
	stored, _, err := latchwork.KVGet("stock/" + move.Item)
	if err != nil {
		return Moved{}, err
	}
	count, _ := strconv.Atoi(string(stored))
	if count < move.Count {
		return Moved{}, latchwork.Fail(latchwork.InvalidInput, "only %d %s are left", count, move.Item)
	}
	left := strconv.Itoa(count - move.Count)
	if err := latchwork.KVSet("done/"+call.ExternalKey, []byte(left)); err != nil {
		return Moved{}, err
	}
	return moved(call, move, count-move.Count), latchwork.KVSet("stock/"+move.Item, []byte(left))
}

// find looks for the move, and notes when it did not find it.
func find(call *latchwork.Invocation, move Move) (latchwork.Verdict, error) {
	left, found, err := latchwork.KVGet("done/" + call.ExternalKey)
	if err != nil {
		return latchwork.Unknown, err
	}
	if found {
		count, err := strconv.Atoi(string(left))
		return latchwork.Happened(moved(call, move, count)), err
	}
	asked := time.Now().UTC().Format(time.RFC3339)
	if err := latchwork.KVSet("missed/"+call.ExternalKey, []byte(asked)); err != nil {
		return latchwork.Unknown, err
	}
	return latchwork.DidNotHappen, nil
}

// main is empty: the host calls the operators.
func main() {}
