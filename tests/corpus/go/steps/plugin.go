// Corpus of steps written in typical Go. Each bad step breaks a rule of the checker. The good step next to it
// looks similar and breaks no rule.
package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"slices"
	"sync"
	"time"

	"latchwork"
)

type Text struct {
	Text string `json:"text"`
}

type Words struct {
	Words []string `json:"words"`
}

// Each run initializes this variable again, from the clock of the step.
var started = time.Now()

func lengths(words []string) map[string]int {
	lengths := map[string]int{}
	for _, word := range words {
		lengths[word] = len(word)
	}
	return lengths
}

// Go randomizes map iteration order, so the result differs between jobs.
func badWalk(_ latchwork.Context, given Words) (Words, error) {
	made := Words{}
	for word := range lengths(given.Words) {
		made.Words = append(made.Words, word)
	}
	return made, nil
}

func goodWalk(_ latchwork.Context, given Words) (Words, error) {
	made := Words{}
	for word := range lengths(given.Words) {
		made.Words = append(made.Words, word)
	}
	slices.Sort(made.Words)
	return made, nil
}

// If several channels are ready, `select` picks one at random.
func badRace(_ latchwork.Context, given Words) (Words, error) {
	odd, even := make(chan string, len(given.Words)), make(chan string, len(given.Words))
	for i, word := range given.Words {
		if i%2 == 1 {
			odd <- word
		} else {
			even <- word
		}
	}
	made := Words{}
	for range given.Words {
		select {
		case word := <-odd:
			made.Words = append(made.Words, word)
		case word := <-even:
			made.Words = append(made.Words, word)
		}
	}
	return made, nil
}

func goodRace(_ latchwork.Context, given Words) (Words, error) {
	made := make([]string, len(given.Words))
	var group sync.WaitGroup
	for i, word := range given.Words {
		group.Go(func() { made[i] = word + word })
	}
	group.Wait()
	return Words{made}, nil
}

// `Bad.Started` declares this function pure, which is wrong. `Good.Started` declares the same function
// stable, which is correct.
func began(latchwork.Context, Text) (Text, error) { return Text{started.Format(time.RFC3339)}, nil }

func badDice(latchwork.Context, Text) (int, error)  { return rand.Intn(1_000_000), nil }
func goodDice(latchwork.Context, Text) (int, error) { return rand.New(rand.NewSource(7)).Intn(1_000_000), nil }

// The counter is always 1, because each run starts with new memory.
var calls int

func badCount(latchwork.Context, Text) (int, error) {
	calls++
	return calls, nil
}

func goodCount(_ latchwork.Context, given Text) (int, error) {
	calls := 0
	for range given.Text {
		calls++
	}
	return calls, nil
}

// Panics if the list is empty, which the input schema allows.
func badFirst(_ latchwork.Context, given Words) (string, error) { return given.Words[0], nil }

func goodFirst(_ latchwork.Context, given Words) (string, error) {
	if len(given.Words) == 0 {
		return "", latchwork.Fail(latchwork.InvalidInput, "there are no words")
	}
	return given.Words[0], nil
}

// A step has no files.
func badFile(_ latchwork.Context, given Text) (Text, error) {
	letter, err := os.ReadFile("/templates/letter.txt")
	return Text{string(letter) + given.Text}, err
}

func goodFile(_ latchwork.Context, given Text) (Text, error) {
	letter, err := latchwork.Call[Text]("File.Read", map[string]any{"path": "/templates/letter.txt"})
	return Text{letter.Text + given.Text}, err
}

// Receives from a channel that has no sender.
func badDeadlock(latchwork.Context, Text) (int, error) { return <-make(chan int), nil }

func goodDeadlock(latchwork.Context, Text) (int, error) {
	answer := make(chan int)
	go func() { answer <- 42 }()
	return <-answer, nil
}

// The caller of a goroutine cannot recover a panic in the goroutine.
func badCrash(_ latchwork.Context, given Words) (string, error) {
	first := make(chan string)
	go func() { first <- given.Words[0] }()
	return <-first, nil
}

// The number of calls that the step makes depends on the time that the first call took.
func badPatience(_ latchwork.Context, given Text) (any, error) {
	began := time.Now()
	page, err := latchwork.Call[any]("Web.Fetch", given)
	if err == nil && time.Since(began) > 5*time.Second {
		return latchwork.Call[any]("Cache.Read", given)
	}
	return page, err
}

func goodPatience(_ latchwork.Context, given Text) (any, error) {
	began := time.Now()
	page, err := latchwork.Call[any]("Web.Fetch", given)
	return map[string]any{"page": page, "seconds": time.Since(began).Seconds()}, err
}

// The later runs of an instance begin before the time that its runtime has seen.
func goodLetters(_ latchwork.Context, given Words) (any, error) {
	began := time.Now()
	for _, word := range given.Words {
		if _, err := latchwork.Call[any]("Letter.Send", word); err != nil {
			return nil, err
		}
	}
	return map[string]any{"seconds": int(time.Since(began) / time.Second)}, nil
}

// The result has no field `total`, which the schema requires. Its field is named `count`.
var total = json.RawMessage(`{"type":"object","required":["total"]}`)

func badTotal(_ latchwork.Context, given Words) (any, error) {
	return map[string]int{"count": len(given.Words)}, nil
}

func goodTotal(_ latchwork.Context, given Words) (any, error) {
	return map[string]int{"total": len(given.Words)}, nil
}

// A pointer is an address.
func badLabel(_ latchwork.Context, given Text) (Text, error) {
	return Text{fmt.Sprintf("%s %p", given.Text, &given)}, nil
}

func goodLabel(_ latchwork.Context, given Text) (Text, error) {
	return Text{fmt.Sprintf("%s %#x", given.Text, 0x1b2c3d)}, nil
}

type Hours struct {
	From string `json:"from"`
}

type Pickup struct {
	Street string `json:"street"`
	Hours  *Hours `json:"hours"`
}

// Formats the address of the hours, and not the hours.
func badPickup(_ latchwork.Context, given Pickup) (Text, error) {
	return Text{fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%+v", given)))}, nil
}

func goodPickup(_ latchwork.Context, given Pickup) (Text, error) {
	if given.Hours == nil {
		return Text{}, latchwork.Fail(latchwork.InvalidInput, "the hours are missing")
	}
	return Text{fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s %+v", given.Street, *given.Hours)))}, nil
}

var months = []string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}

// The index of a month is its number less one.
func badMonth(latchwork.Context, Text) (Text, error) { return Text{months[time.Now().Month()]}, nil }

func goodMonth(latchwork.Context, Text) (Text, error) { return Text{months[time.Now().Month()-1]}, nil }

// A Stop names the next one.
type Stop struct {
	Name string `json:"name"`
	Next string `json:"next"`
}

// Line has the stops of a line.
type Line struct {
	Stops []Stop `json:"stops"`
}

// The stops are followed by a recursion.
func follow(next map[string]string, stop string, left int) int {
	after, known := next[stop]
	if !known || left == 0 {
		return 0
	}
	return 1 + follow(next, after, left-1)
}

func stopsOf(given Line, most int) (map[string]int, error) {
	if len(given.Stops) == 0 {
		return nil, &latchwork.Failure{Code: latchwork.InvalidInput, Message: "there are no stops"}
	}
	next := map[string]string{}
	for _, stop := range given.Stops {
		next[stop.Name] = stop.Next
	}
	return map[string]int{"stops": follow(next, given.Stops[0].Name, most)}, nil
}

func badLine(_ latchwork.Context, given Line) (map[string]int, error) { return stopsOf(given, -1) }

func goodLine(_ latchwork.Context, given Line) (map[string]int, error) { return stopsOf(given, 100) }

// Stops that refer to each other have no end.
func circle(given Line, most int) (map[string]int, error) {
	next := map[string]string{}
	for _, stop := range given.Stops {
		if stop.Next == stop.Name {
			return nil, &latchwork.Failure{Code: latchwork.InvalidInput, Message: "a stop refers to itself"}
		}
		next[stop.Name] = stop.Next
	}
	count := 0
	for _, stop := range given.Stops {
		for after, known := next[stop.Name]; known && count != most; after, known = next[after] {
			count++
		}
	}
	return map[string]int{"stops": count}, nil
}

func badCircle(_ latchwork.Context, given Line) (map[string]int, error) { return circle(given, -1) }

func goodCircle(_ latchwork.Context, given Line) (map[string]int, error) { return circle(given, 100) }

// Refuses a line with stops that refer to no other stop.
func open(given Line, show func([]*Stop) any) (map[string]int, error) {
	var open []*Stop
	for i := range given.Stops {
		if given.Stops[i].Next == "" {
			open = append(open, &given.Stops[i])
		}
	}
	if len(open) > 0 {
		return nil, latchwork.Fail(latchwork.InvalidInput, "stops without a next one: %v", show(open))
	}
	return map[string]int{"stops": len(given.Stops)}, nil
}

func badOpen(_ latchwork.Context, given Line) (map[string]int, error) {
	return open(given, func(open []*Stop) any { return open })
}

func goodOpen(_ latchwork.Context, given Line) (map[string]int, error) {
	return open(given, func(open []*Stop) any { return *open[0] })
}

func init() {
	pure := latchwork.Spec{Description: "For the corpus."}
	stable, external, sums := pure, pure, pure
	stable.Determinism, external.Determinism, sums.Output = latchwork.Stable, latchwork.External, total
	latchwork.Step("Bad.Walk", pure, badWalk)
	latchwork.Step("Good.Walk", pure, goodWalk)
	latchwork.Step("Bad.Race", pure, badRace)
	latchwork.Step("Good.Race", pure, goodRace)
	latchwork.Step("Bad.Started", pure, began)
	latchwork.Step("Good.Started", stable, began)
	latchwork.Step("Bad.Dice", pure, badDice)
	latchwork.Step("Good.Dice", pure, goodDice)
	latchwork.Step("Bad.Count", pure, badCount)
	latchwork.Step("Good.Count", pure, goodCount)
	latchwork.Step("Bad.Label", pure, badLabel)
	latchwork.Step("Good.Label", pure, goodLabel)
	latchwork.Step("Bad.Pickup", external, badPickup)
	latchwork.Step("Good.Pickup", external, goodPickup)
	latchwork.Step("Bad.First", pure, badFirst)
	latchwork.Step("Good.First", pure, goodFirst)
	latchwork.Step("Bad.File", pure, badFile)
	latchwork.Step("Good.File", external, goodFile)
	latchwork.Step("Bad.Deadlock", pure, badDeadlock)
	latchwork.Step("Good.Deadlock", pure, goodDeadlock)
	latchwork.Step("Bad.Crash", pure, badCrash)
	latchwork.Step("Bad.Patience", external, badPatience)
	latchwork.Step("Good.Patience", external, goodPatience)
	latchwork.Step("Good.Letters", external, goodLetters)
	latchwork.Step("Bad.Month", stable, badMonth)
	latchwork.Step("Good.Month", stable, goodMonth)
	latchwork.Step("Bad.Circle", pure, badCircle)
	latchwork.Step("Good.Circle", pure, goodCircle)
	latchwork.Step("Bad.Line", pure, badLine)
	latchwork.Step("Good.Line", pure, goodLine)
	latchwork.Step("Bad.Open", pure, badOpen)
	latchwork.Step("Good.Open", pure, goodOpen)
	latchwork.Step("Bad.Total", sums, badTotal)
	latchwork.Step("Good.Total", sums, goodTotal)
}

func main() {}
