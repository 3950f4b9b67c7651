// Command pier-fishing issues permits for fishing from a pier.
package main

import (
	"encoding/json"
	"log/slog"
	"time"

	"latchwork"
)

// most is the number of rods that one angler may use.
const most = 3

type Request struct {
	Angler string `json:"angler"`
	Day    string `json:"day"`
	Rods   int    `json:"rods"`
}

type Permit struct {
	Permit string `json:"permit"`
	Angler string `json:"angler"`
	Day    string `json:"day"`
	Cents  int    `json:"cents"`
}

func init() {
	latchwork.Tool("Permit.Issue", latchwork.Spec{
		Description:     "Issues a permit for fishing from the pier on one day.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 48 * time.Hour,
	}, issue).Verify(check)
}

// price returns the fee in cents. The second and the third rod cost less.
func price(rods int) int { return 450 + 200*(rods-1) }

func issue(call *latchwork.Invocation, request Request) (Permit, error) {
	if request.Angler == "" || len(request.Angler) > 200 {
		return Permit{}, latchwork.Fail(latchwork.InvalidInput, "the angler needs a name of 1 to 200 bytes")
	}
	if _, err := time.Parse(time.DateOnly, request.Day); err != nil {
		return Permit{}, latchwork.Fail(latchwork.InvalidInput, "%q is no day such as 2026-05-01", request.Day)
	}
	if request.Rods < 1 || request.Rods > most {
		return Permit{}, latchwork.Fail(latchwork.InvalidInput, "a permit is for 1 to %d rods, not %d", most, request.Rods)
	}
	permit := Permit{call.ExternalKey, request.Angler, request.Day, price(request.Rods)}
	text, err := json.Marshal(permit)
	if err != nil {
		return Permit{}, err
	}
	// The permit of a repeated call is in the register already.
	if call.TriesBefore > 0 {
		slog.Info("permit issued before", "tries", call.TriesBefore)
		return issued(call, permit, text), nil
	}
	if err := latchwork.KVSet(call.ExternalKey, text); err != nil {
		return Permit{}, err
	}
	return issued(call, permit, text), nil
}

func issued(call *latchwork.Invocation, permit Permit, text []byte) Permit {
	call.Changed(latchwork.Change{
		ResourceType: "permit", ResourceID: permit.Permit, Operation: "create", Version: string(text),
	})
	return permit
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the permit is not in the register", nil
	case string(text) != change.Version:
		return "the permit says something else", nil
	}
	return "", nil
}

// main is empty: the host calls the operators.
func main() {}
