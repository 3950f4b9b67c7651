package main

import (
	"log/slog"
	"slices"
	"strings"
	"sync"

	"latchwork"
)

// Order is an order of cheese boards for several tables.
type Order struct {
	Tables []Table `json:"tables"`
}

// Table is a table with the cheeses that its guests asked for.
type Table struct {
	Table   string   `json:"table"`
	Cheeses []string `json:"cheeses"`
}

// Boards has the board of each table, and the shopping list.
type Boards struct {
	Boards []Board `json:"boards"`
	List   []Item  `json:"list"`
}

// Board is the board of a table.
type Board struct {
	Table  string   `json:"table"`
	Pieces []string `json:"pieces"`
}

// Item is a cheese on the shopping list.
type Item struct {
	Cheese string `json:"cheese"`
	Pieces int    `json:"pieces"`
}

func init() {
	latchwork.Step("Cheese.Board", latchwork.Spec{
		Description: "Lays out cheese boards and makes the shopping list.",
		Input: latchwork.Schema(`{"type":"object","required":["tables"],"additionalProperties":false,"properties":{
			"tables":{"type":"array","maxItems":60,"items":{"type":"object","required":["table","cheeses"],"additionalProperties":false,
			"properties":{"table":{"type":"string","maxLength":80},
			"cheeses":{"type":"array","maxItems":40,"items":{"type":"string","maxLength":80}}}}}}}`),
	}, lay)
}

func lay(_ latchwork.Context, order Order) (Boards, error) {
	for i, table := range order.Tables {
		if strings.TrimSpace(table.Table) == "" {
			return Boards{}, latchwork.Fail(latchwork.InvalidInput, "table %d has no name", i+1)
		}
	}
	made := Boards{Boards: make([]Board, len(order.Tables)), List: []Item{}}
	var tables sync.WaitGroup
	for i, table := range order.Tables {
		tables.Go(func() { made.Boards[i] = Board{table.Table, pieces(table.Cheeses)} })
	}
	tables.Wait()

	counts := map[string]int{}
	for _, board := range made.Boards {
		for _, cheese := range board.Pieces {
			counts[cheese]++
		}
	}
	for cheese, count := range counts {
		made.List = append(made.List, Item{cheese, count})
	}
	// The cheese that is needed most comes first; cheeses are listed once, so the name decides the rest.
	slices.SortFunc(made.List, func(a, b Item) int {
		if a.Pieces != b.Pieces {
			return b.Pieces - a.Pieces
		}
		return strings.Compare(a.Cheese, b.Cheese)
	})
	slog.Info("boards are laid", "tables", len(order.Tables))
	return made, nil
}

// pieces returns the different cheeses of a table by name.
func pieces(cheeses []string) []string {
	wanted := map[string]struct{}{}
	for _, cheese := range cheeses {
		wanted[strings.ToLower(strings.TrimSpace(cheese))] = struct{}{}
	}
	delete(wanted, "")
	sorted := make([]string, 0, len(wanted))
	for cheese := range wanted {
		sorted = append(sorted, cheese)
	}
	slices.Sort(sorted)
	return sorted
}

func main() {}
