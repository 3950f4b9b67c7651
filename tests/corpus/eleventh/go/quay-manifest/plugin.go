package main

import (
	"sort"
	"strings"
	"sync"
	"time"

	"latchwork"
)

type Line struct {
	Consignee string `json:"consignee"`
	Kilograms int    `json:"kilograms"`
	Landed    string `json:"landed"`
}

type Manifest struct {
	Lines []Line `json:"lines"`
}

type Share struct {
	Consignee string `json:"consignee"`
	Lots      int    `json:"lots"`
	Kilograms int    `json:"kilograms"`
	Days      int    `json:"days"`
}

type Summary struct {
	Shares []Share `json:"shares"`
	Total  int     `json:"total"`
}

func init() {
	latchwork.Step("Quay.Manifest", latchwork.Spec{
		Description: "Sums up the landed lots of each consignee, and the days over which they were landed.",
		Determinism: latchwork.Pure,
	}, summarize)
}

const mostLines, longestName, heaviest = 1000, 100, 1_000_000

type lot struct {
	kilograms int
	landed    time.Time
}

func summarize(_ latchwork.Context, manifest Manifest) (Summary, error) {
	if len(manifest.Lines) == 0 || len(manifest.Lines) > mostLines {
		return Summary{}, latchwork.Fail(latchwork.InvalidInput, "a manifest has between 1 and %d lines", mostLines)
	}
	lots := map[string][]lot{}
	for i, line := range manifest.Lines {
		name := strings.TrimSpace(line.Consignee)
		if name == "" || len(name) > longestName || line.Kilograms < 1 || line.Kilograms > heaviest {
			return Summary{}, latchwork.Fail(latchwork.InvalidInput, "line %d: the consignee or the weight is out of range", i+1)
		}
		landed, err := time.Parse("2006-01-02", line.Landed)
		if err != nil {
			return Summary{}, latchwork.Fail(latchwork.InvalidInput, "line %d: %q is no day", i+1, line.Landed)
		}
		lots[name] = append(lots[name], lot{line.Kilograms, landed})
	}
	shares := make([]Share, len(lots))
	var wait sync.WaitGroup
	next := 0
	for name, own := range lots {
		place := &shares[next]
		next++
		wait.Add(1)
		go func() {
			defer wait.Done()
			*place = share(name, own)
		}()
	}
	wait.Wait()
	sort.Slice(shares, func(i, k int) bool {
		if shares[i].Kilograms != shares[k].Kilograms {
			return shares[i].Kilograms > shares[k].Kilograms
		}
		return shares[i].Consignee < shares[k].Consignee
	})
	total := 0
	for _, one := range shares {
		total += one.Kilograms
	}
	return Summary{shares, total}, nil
}

func share(name string, lots []lot) Share {
	made := Share{Consignee: name, Lots: len(lots)}
	first, last := lots[0].landed, lots[0].landed
	for _, one := range lots {
		made.Kilograms += one.kilograms
		if one.landed.Before(first) {
			first = one.landed
		}
		if one.landed.After(last) {
			last = one.landed
		}
	}
	made.Days = int((last.Unix()-first.Unix())/86400) + 1
	return made
}

func main() {}
