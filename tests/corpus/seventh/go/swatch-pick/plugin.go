package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sort"
	"strings"
	"sync"

	"latchwork"
)

type Brand struct {
	Name  string   `json:"name"`
	Moods []string `json:"moods"`
}

type Swatch struct {
	Mood string `json:"mood"`
	Hex  string `json:"hex"`
}

type Palette struct {
	Swatches []Swatch       `json:"swatches"`
	Hues     map[string]int `json:"hues"`
}

var (
	lock   sync.Mutex
	mixed  = map[string]string{}
	hueOf  = map[string]int{"calm": 210, "warm": 30, "fresh": 120, "bold": 0}
	spread = 24
)

func init() {
	latchwork.Step("Swatch.Pick", latchwork.Spec{
		Description: "Picks one colour for each mood of a brand.",
	}, pick)
}

// mix gives the colour of a mood. The same brand always gets the same colours.
func mix(brand, mood string) string {
	lock.Lock()
	defer lock.Unlock()
	key := brand + "\x00" + mood
	if hex, known := mixed[key]; known {
		return hex
	}
	sum := sha256.Sum256([]byte(key))
	random := rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])))
	hex := fmt.Sprintf("#%02x%02x%02x", random.IntN(256), random.IntN(256), random.IntN(256))
	mixed[key] = hex
	return hex
}

func pick(_ latchwork.Context, brand Brand) (Palette, error) {
	unique := map[string]bool{}
	for _, mood := range brand.Moods {
		unique[strings.ToLower(strings.TrimSpace(mood))] = true
	}
	delete(unique, "")
	moods := make([]string, 0, len(unique))
	for mood := range unique {
		moods = append(moods, mood)
	}
	sort.Strings(moods)
	palette := Palette{Swatches: make([]Swatch, len(moods)), Hues: map[string]int{}}
	var done sync.WaitGroup
	for i, mood := range moods {
		done.Add(1)
		go func() {
			defer done.Done()
			palette.Swatches[i] = Swatch{mood, mix(brand.Name, mood)}
		}()
	}
	done.Wait()
	for mood, hue := range hueOf {
		if unique[mood] {
			palette.Hues[mood] = (hue + spread*len(moods)) % 360
		}
	}
	slog.Info("picked", "brand", brand.Name, "swatches", len(moods))
	return palette, nil
}

// main is empty: the host calls the operators.
func main() {}
