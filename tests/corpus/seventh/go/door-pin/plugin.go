package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"time"

	"latchwork"
)

type Guest struct {
	Name string `json:"name"`
	Door string `json:"door"`
}

type Pin struct {
	Door  string    `json:"door"`
	Pin   string    `json:"pin"`
	Until time.Time `json:"until"`
}

// valid is how long a guest can use a pin.
const valid = 30 * time.Minute

func init() {
	latchwork.Tool("Door.Pin", latchwork.Spec{
		Description:     "Issues a pin that opens one door for half an hour.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 12 * time.Hour,
	}, issue)
}

func issue(call *latchwork.Invocation, guest Guest) (Pin, error) {
	if strings.TrimSpace(guest.Door) == "" {
		return Pin{}, latchwork.Fail(latchwork.InvalidInput, "no door is named")
	}
	now := time.Now().UTC()
	text, found, err := latchwork.KVGet("pin/" + call.ExternalKey)
	if err != nil {
		return Pin{}, err
	}
	if found {
		var known Pin
		if err := json.Unmarshal(text, &known); err == nil && now.Before(known.Until) {
			return issued(call, known), nil
		}
	}
	number, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
	if err != nil {
		return Pin{}, latchwork.Fail(latchwork.TransientDBLock, "no random number: %w", err)
	}
	pin := Pin{Door: guest.Door, Pin: fmt.Sprintf("%06d", number), Until: now.Add(valid)}
	text, err = json.Marshal(pin)
	if err != nil {
		return Pin{}, err
	}
	if err := latchwork.KVSet("pin/"+call.ExternalKey, text); err != nil {
		return Pin{}, err
	}
	return issued(call, pin), nil
}

func issued(call *latchwork.Invocation, pin Pin) Pin {
	call.Changed(latchwork.Change{ResourceType: "pin", ResourceID: call.ExternalKey, Operation: "create"})
	call.Receipt(map[string]string{"door": pin.Door, "key": call.ExternalKey})
	return pin
}

// main is empty: the host calls the operators.
func main() {}
