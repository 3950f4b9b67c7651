// Command drawbridge-lift asks for the lift of a drawbridge and looks a few times whether it is granted.
package main

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand"
	"strings"
	"time"

	"latchwork"
)

// rounds bounds the questions about a request. After them the vessel waits at the dolphin.
const rounds = 5

type Passage struct {
	Vessel string `json:"vessel"`
	Bridge string `json:"bridge"`
	// MastCm is the height of the mast in centimetres.
	MastCm int `json:"mast_cm"`
}

type Request struct {
	Ticket string `json:"ticket"`
}

type Status struct {
	State string `json:"state"`
}

type Lift struct {
	Ticket string `json:"ticket"`
	State  string `json:"state"`
	Rounds int    `json:"rounds"`
	SeenAt string `json:"seen_at"`
}

func init() {
	latchwork.Step("Drawbridge.Lift", latchwork.Spec{
		Description: "Asks for the lift of a drawbridge.",
		Effects:     []latchwork.Effect{latchwork.ExternalWrite},
		Determinism: latchwork.External,
	}, lift)
}

func lift(_ latchwork.Context, passage Passage) (Lift, error) {
	if strings.TrimSpace(passage.Vessel) == "" || strings.TrimSpace(passage.Bridge) == "" {
		return Lift{}, latchwork.Fail(latchwork.InvalidInput, "the vessel or the bridge is missing")
	}
	if passage.MastCm < 1 || passage.MastCm > 9000 {
		return Lift{}, latchwork.Fail(latchwork.InvalidInput, "a mast of %d cm is not possible", passage.MastCm)
	}
	// The key contains every argument, so equal keys have equal arguments.
	key := fmt.Sprintf("lift/%q/%q/%d", passage.Vessel, passage.Bridge, passage.MastCm)
	request, err := latchwork.Call[Request]("Bridge.Request", passage, key)
	if err != nil {
		return Lift{}, err
	}

	for round := 1; round <= rounds; round++ {
		// The pause takes no time in a step. The random part comes from the host.
		time.Sleep(20*time.Second + time.Duration(rand.Intn(5000))*time.Millisecond)
		status, err := latchwork.Call[Status]("Bridge.Status", request)
		var failure *latchwork.Failure
		if errors.As(err, &failure) && failure.Code == latchwork.DependencyUnavailable {
			slog.Warn("the bridge does not answer", "round", round)
			continue
		}
		if err != nil {
			return Lift{}, err
		}
		if status.State != "queued" {
			return Lift{request.Ticket, status.State, round, time.Now().UTC().Format(time.RFC3339)}, nil
		}
	}
	return Lift{request.Ticket, "queued", rounds, time.Now().UTC().Format(time.RFC3339)}, nil
}

// main is empty: the host calls the operators.
func main() {}
