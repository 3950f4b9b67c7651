// Command press-proof orders the proof of a book from a printer, and waits until the proof can be fetched.
package main

import (
	"log/slog"
	"strings"
	"time"

	"latchwork"
)

type Input struct {
	Title      string `json:"title"`
	Manuscript string `json:"manuscript"`
	Pages      int    `json:"pages"`
}

// Order is the printer's answer to an order.
type Order struct {
	ID string `json:"id"`
}

// Status is the state of an order at the printer.
type Status struct {
	State  string `json:"state"`
	File   string `json:"file"`
	Reason string `json:"reason"`
}

type Proof struct {
	Order   string    `json:"order"`
	File    string    `json:"file"`
	Sheets  int       `json:"sheets"`
	ReadyAt time.Time `json:"ready_at"`
}

func init() {
	latchwork.Step("Press.Proof", latchwork.Spec{
		Description: "Orders the proof of a book and returns its file.",
		Effects:     []latchwork.Effect{latchwork.ExternalWrite},
		Determinism: latchwork.External,
	}, proof)
}

// sheets returns the number of sheets of sixteen pages.
func sheets(pages int) int { return (pages + 15) / 16 }

func proof(_ latchwork.Context, in Input) (Proof, error) {
	if strings.TrimSpace(in.Title) == "" || strings.TrimSpace(in.Manuscript) == "" {
		return Proof{}, latchwork.Fail(latchwork.InvalidInput, "an order needs a title and a manuscript")
	}
	if in.Pages < 1 || in.Pages > 2000 {
		return Proof{}, latchwork.Fail(latchwork.InvalidInput, "a book has 1 to 2000 pages, not %d", in.Pages)
	}
	order, err := latchwork.Call[Order]("Printer.Order", in)
	if err != nil {
		return Proof{}, err
	}

	wait := 15 * time.Second
	for {
		status, err := latchwork.Call[Status]("Printer.Status", order)
		if err != nil {
			return Proof{}, err
		}
		switch status.State {
		case "ready":
			return Proof{order.ID, status.File, sheets(in.Pages), time.Now().UTC()}, nil
		case "rejected":
			return Proof{}, latchwork.Fail(latchwork.PolicyDenied, "the printer rejects the order: %s", status.Reason)
		case "queued", "printing":
			slog.Info("the proof is not ready", "order", order.ID, "state", status.State)
		default:
			return Proof{}, latchwork.Fail(latchwork.SchemaValidationFailed, "unknown state %q", status.State)
		}
		time.Sleep(wait)
		wait = min(2*wait, 10*time.Minute)
	}
}

// main is empty: the host calls the operators.
func main() {}
