package main

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"latchwork"
)

type Block struct {
	Name   string         `json:"name"`
	Copies int            `json:"copies"`
	Pieces map[string]int `json:"pieces"` // number of pieces by fabric
	Side   int            `json:"side_mm"`
}

type Quilt struct {
	Blocks []Block `json:"blocks"`
	Bolt   int     `json:"bolt_mm"`
}

type Fabric struct {
	Name   string `json:"name"`
	Pieces int    `json:"pieces"`
	Length int    `json:"length_mm"`
}

type Cutting struct {
	Fabrics []Fabric `json:"fabrics"`
	Blocks  []string `json:"blocks"`
}

// perStrip keeps computed values within a run. Its entries follow from their arguments alone.
var perStrip = map[[2]int]int{}

const seam = 7

func init() {
	latchwork.Step("Quilt.Cut", latchwork.Spec{
		Description: "Computes the length of each fabric that a quilt needs.",
	}, cut)
}

func cut(_ latchwork.Context, quilt Quilt) (Cutting, error) {
	if quilt.Bolt < 100 || quilt.Bolt > 3000 {
		return Cutting{}, latchwork.Fail(latchwork.InvalidInput, "a bolt is 100 to 3000 mm wide")
	}
	for _, block := range quilt.Blocks {
		if block.Side < 10 || block.Side+2*seam > quilt.Bolt || block.Copies < 0 || block.Copies > 10_000 {
			return Cutting{}, latchwork.Fail(latchwork.InvalidInput, "block %s does not fit the bolt", block.Name)
		}
		for _, fabric := range slices.Sorted(maps.Keys(block.Pieces)) {
			if n := block.Pieces[fabric]; n < 0 || n > 1000 {
				return Cutting{}, latchwork.Fail(latchwork.InvalidInput, "block %s has %d pieces of %s", block.Name, n, fabric)
			}
		}
	}

	// Each goroutine has a place of its own for its result.
	lines := make([]string, len(quilt.Blocks))
	var all sync.WaitGroup
	for i, block := range quilt.Blocks {
		all.Add(1)
		go func() {
			defer all.Done()
			lines[i] = describe(block)
		}()
	}
	all.Wait()

	pieces, length := map[string]int{}, map[string]int{}
	for _, block := range quilt.Blocks {
		for fabric, n := range block.Pieces {
			n *= block.Copies
			pieces[fabric] += n
			strip := strips(quilt.Bolt, block.Side+2*seam)
			length[fabric] += (n + strip - 1) / strip * (block.Side + 2*seam)
		}
	}
	fabrics := []Fabric{}
	for name, n := range pieces {
		fabrics = append(fabrics, Fabric{name, n, length[name]})
	}
	slices.SortFunc(fabrics, func(a, b Fabric) int {
		if a.Name < b.Name {
			return -1
		}
		return 1 // names are unique
	})
	return Cutting{fabrics, lines}, nil
}

func describe(block Block) string {
	text := fmt.Sprintf("%s x%d:", block.Name, block.Copies)
	for _, fabric := range slices.Sorted(maps.Keys(block.Pieces)) {
		text += fmt.Sprintf(" %s=%d", fabric, block.Pieces[fabric])
	}
	return text
}

func strips(bolt, width int) int {
	key := [2]int{bolt, width}
	if _, known := perStrip[key]; !known {
		perStrip[key] = bolt / width
	}
	return perStrip[key]
}

// main is empty: the host calls the operators.
func main() {}
