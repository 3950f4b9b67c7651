package main

import (
	crypto "crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"math"
	"math/big"
	"math/rand"
	v2 "math/rand/v2"
	"os"
	"slices"
	"sync"
	"time"

	"latchwork"
)

// Initialized when Go's runtime starts, as variables of a library might be. The runtime starts with each
// call.
var (
	started = time.Now()
	dice    = rand.Int63()
	shared  = rand.New(rand.NewSource(time.Now().UnixNano()))
	seeded  = rand.New(rand.NewSource(7))
)

type look struct {
	Clocks          map[string]any `json:"clocks"`
	Random          map[string]any `json:"random"`
	Draws           []float64      `json:"draws"`
	Fixed           map[string]any `json:"fixed"`
	InjectedSeconds float64        `json:"injected_seconds"`
}

func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// Returns three orders: the keys of a map as iterated, goroutines as they ran, and channels as a select
// picked them.
func orders() (walked, ran, picked []int) {
	numbers := map[int]bool{}
	for i := range 40 {
		numbers[i] = true
	}
	for i := range numbers {
		walked = append(walked, i)
	}
	done, other := make(chan int, 99), make(chan int, 99)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() { done <- i })
	}
	group.Wait()
	for range 8 {
		ran = append(ran, <-done)
	}
	for range 60 {
		done <- 0
		other <- 1
	}
	for range 40 {
		select {
		case i := <-done:
			picked = append(picked, i)
		case i := <-other:
			picked = append(picked, i)
		}
	}
	return walked, ran, picked
}

func lookAround(_ latchwork.Context, _ struct{}) (look, error) {
	now := time.Now()
	secret := make([]byte, 8)
	if _, err := crypto.Read(secret); err != nil {
		return look{}, err
	}
	prime, err := crypto.Prime(crypto.Reader, 64)
	if err != nil {
		return look{}, err
	}
	walked, ran, picked := orders()
	slices.Sort(ran)
	draws := []float64{}
	for range 400 {
		draws = append(draws, rand.Float64())
	}

	// Sleeping advances the step's clock and takes no real time.
	asleep := time.Now()
	time.Sleep(90 * time.Minute)
	slept := time.Since(asleep)
	timeout := ""
	select {
	case <-make(chan int):
	case <-time.After(time.Hour):
		timeout = "after an hour"
	}
	for waited := time.Now(); time.Since(waited) < time.Millisecond; {
	}

	if _, err := os.ReadFile("/etc/passwd"); err == nil {
		return look{}, errors.New("there is a file")
	}
	fmt.Print("looking ")
	fmt.Println("around")
	fmt.Printf("in the middle of \xf0\x9f a character\n")
	fmt.Print("without an end")
	log.Print("by log")
	slog.Warn("by slog", "ways", 3)
	return look{
		Clocks: map[string]any{"now": seconds(now), "started": seconds(started), "iso": now, "unix": fmt.Sprint(now.UnixNano())},
		Random: map[string]any{
			"rand": rand.Int31(), "v2": v2.Uint32(), "shared": shared.Int31(), "dice": fmt.Sprint(dice), "crypto": hex.EncodeToString(secret),
			"prime": prime.String(), "uuid": latchwork.UUID(), "map": walked, "select": picked,
		},
		Draws: draws,
		Fixed: map[string]any{
			"seeded": seeded.Int31(), "goroutines": ran, "slept": slept.Round(time.Minute).String(), "timeout": timeout,
			"environment": os.Environ(), "arguments": len(os.Args), "zone": time.Local.String(),
		},
		InjectedSeconds: seconds(latchwork.Now().Add(-150 * time.Minute)),
	}, nil
}

func deepInside() {
	panic("the cellar is flooded")
}

type told struct {
	How string `json:"how"`
}

func fail(_ latchwork.Context, given told) (any, error) {
	switch given.How {
	case "exception":
		deepInside()
	case "half":
		return nil, errors.New("half of \xf0\x9f")
	case "failure":
		return nil, fmt.Errorf("%w", latchwork.Fail(latchwork.AuthForbidden, "no key"))
	case "exit":
		os.Exit(3)
	case "fatal":
		go func() { panic("nobody catches this") }()
		time.Sleep(time.Second)
	case "deadlock":
		<-make(chan int)
	case "big":
		return map[string]any{"n": []any{new(big.Int).Lsh(big.NewInt(1), 53)}}, nil
	}
	return map[string]any{"n": math.NaN()}, nil
}

// The steps are registered in `main` instead of `init`, because authors may expect that `main` runs.
func main() {
	latchwork.Step("Ambient.Look", latchwork.Spec{Determinism: latchwork.Stable}, lookAround)
	latchwork.Step("Ambient.Fail", latchwork.Spec{}, fail)
}
