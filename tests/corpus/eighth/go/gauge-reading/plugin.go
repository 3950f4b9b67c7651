package main

import (
	"log/slog"
	"math/rand"
	"strconv"
	"time"

	"latchwork"
)

type Ask struct {
	Gauge string `json:"gauge"`
}

type Reading struct {
	Gauge  string  `json:"gauge"`
	Meters float64 `json:"meters"`
	ReadAt string  `json:"read_at"`
}

func init() {
	latchwork.Tool("Gauge.Read", latchwork.Spec{
		Description: "Reads the newest level of a gauge from one of its two copies.",
		Effects:     []latchwork.Effect{latchwork.ReadOnly},
		Determinism: latchwork.External,
	}, read)
}

func read(call *latchwork.Invocation, ask Ask) (Reading, error) {
	if call.TriesBefore > 0 {
		slog.Info("asked again", "tries", call.TriesBefore, "slot", call.Slot)
	}
	_, locked, err := latchwork.KVGet("import-runs")
	if err != nil {
		return Reading{}, err
	}
	if locked {
		failure := latchwork.Fail(latchwork.TransientDBLock, "the import of new levels is under way")
		failure.RetryAfter = 5 * time.Second
		return Reading{}, failure
	}
	copies := []string{"a", "b"}
	rand.Shuffle(2, func(i, j int) { copies[i], copies[j] = copies[j], copies[i] })
	for _, copy := range copies {
		text, found, err := latchwork.KVGet(copy + "/" + ask.Gauge)
		if err != nil {
			return Reading{}, err
		}
		if !found {
			continue
		}
		meters, err := strconv.ParseFloat(string(text), 64)
		if err != nil || !(meters >= -20 && meters <= 20) {
			return Reading{}, latchwork.Fail(latchwork.DependencyUnavailable, "gauge %s has no valid level", ask.Gauge)
		}
		return Reading{ask.Gauge, meters, time.Now().UTC().Format(time.RFC3339)}, nil
	}
	return Reading{}, latchwork.Fail(latchwork.MissingRequiredContext, "gauge %s is not known", ask.Gauge)
}

func main() {}
