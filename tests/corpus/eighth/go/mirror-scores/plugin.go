package main

import (
	"sort"

	"latchwork"
)

type Sheet struct {
	Entries []Entry `json:"entries"`
}

type Entry struct {
	Name  string `json:"name"`
	Marks []int  `json:"marks"`
}

type Ranked struct {
	Name  string `json:"name"`
	Score int    `json:"score"`
}

type Table struct {
	Ranking []Ranked `json:"ranking"`
}

func init() {
	latchwork.Step("Mirror.Rank", latchwork.Spec{
		Description: "Ranks the entries of a contest by the sum of their marks, without the best and the worst mark.",
	}, rank)
}

func rank(_ latchwork.Context, sheet Sheet) (Table, error) {
	var table Table
	scores := make(map[string]int)
	for _, entry := range sheet.Entries {
		scores[entry.Name] = score(entry.Marks)
	}
	for name, score := range scores {
		table.Ranking = append(table.Ranking, Ranked{name, score})
	}
	if len(table.Ranking) == 0 {
		return table, latchwork.Fail(latchwork.InvalidInput, "the sheet is empty")
	}
	sort.SliceStable(table.Ranking, func(i, j int) bool { return table.Ranking[i].Score > table.Ranking[j].Score })
	return table, nil
}

func score(marks []int) int {
	sorted := append([]int(nil), marks...)
	sort.Ints(sorted)
	sum := 0
	for i, mark := range sorted {
		if len(sorted) > 2 && (i == 0 || i == len(sorted)-1) {
			continue
		}
		sum += mark
	}
	return sum
}

func main() {}
