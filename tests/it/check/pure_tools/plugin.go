package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"sync"
	"time"

	"latchwork"
)

// started and drawn are read while the runtime starts.
var started = time.Now().Unix()
var drawn = draw()

type Args struct {
	Reads string `json:"reads"`
}

func init() {
	latchwork.Tool("Pure.Reads", latchwork.Spec{
		Description: "Reads what it is asked for.",
		Effects:     []latchwork.Effect{latchwork.ReadOnly},
		Determinism: latchwork.Pure,
	}, answer)
}

func answer(_ *latchwork.Invocation, args Args) (string, error) {
	switch args.Reads {
	case "clock":
		return stamp(), nil
	case "random":
		return draw(), nil
	case "start":
		return fmt.Sprint(started, " ", drawn), nil
	case "secret":
		return latchwork.Secret("TOKEN")
	}
	return work(args.Reads), nil
}

func stamp() string { return strconv.FormatInt(time.Now().Unix()%2, 10) }

func draw() string {
	var bytes [1]byte
	rand.Read(bytes[:])
	return strconv.Itoa(int(bytes[0]))
}

// work uses what makes the runtime look at its clock: goroutines, a timer and garbage.
func work(text string) string {
	counts := map[string]int{}
	var lock sync.Mutex
	var group sync.WaitGroup
	for n := range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			time.Sleep(time.Millisecond)
			encoded, _ := json.Marshal(make([]byte, 1<<20))
			lock.Lock()
			defer lock.Unlock()
			counts[fmt.Sprint(text, n)] = len(encoded)
		}()
	}
	group.Wait()
	keys := make([]string, 0, len(counts))
	for key := range counts {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return fmt.Sprint(keys, counts[keys[0]])
}

func main() {}
