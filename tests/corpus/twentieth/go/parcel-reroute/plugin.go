// Command parcel-reroute sends a parcel that is on its way to another address.
package main

import (
	"errors"
	"fmt"
	"strings"

	"latchwork"
)

type Input struct {
	Parcel   string `json:"parcel"`
	Receiver string `json:"receiver"`
	Street   string `json:"street"`
	Town     string `json:"town"`
}

// Parcel is the state of a parcel at the carrier.
type Parcel struct {
	State string `json:"state"`
	Depot string `json:"depot"`
}

type Change struct {
	Parcel  string `json:"parcel"`
	Address string `json:"address"`
}

// Note is a message on the screen of a depot.
type Note struct {
	Depot string `json:"depot"`
	Text  string `json:"text"`
}

type Output struct {
	Parcel string `json:"parcel"`
	By     string `json:"by"`
	Depot  string `json:"depot"`
}

func init() {
	latchwork.Step("Parcel.Reroute", latchwork.Spec{
		Description: "Sends a parcel to another address.",
		Effects:     []latchwork.Effect{latchwork.ExternalWrite},
		Determinism: latchwork.External,
	}, reroute)
}

func reroute(_ latchwork.Context, in Input) (Output, error) {
	for _, part := range []string{in.Parcel, in.Receiver, in.Street, in.Town} {
		if strings.TrimSpace(part) == "" {
			return Output{}, latchwork.Fail(latchwork.InvalidInput, "the parcel, the receiver or the address is missing")
		}
	}
	parcel, err := latchwork.Call[Parcel]("Carrier.Find", map[string]string{"parcel": in.Parcel})
	if err != nil {
		return Output{}, err
	}
	if parcel.State == "delivered" {
		return Output{}, latchwork.Fail(latchwork.PolicyDenied, "parcel %s was delivered", in.Parcel)
	}

	address := fmt.Sprintf("%s, %s, %s", in.Receiver, in.Street, in.Town)
	_, err = latchwork.Call[struct{}]("Carrier.Change", Change{in.Parcel, address})
	if err == nil {
		return Output{in.Parcel, "carrier", parcel.Depot}, nil
	}
	var failure *latchwork.Failure
	if !errors.As(err, &failure) || failure.Code != latchwork.InvalidInput {
		return Output{}, err
	}

	// The carrier changes no label of a parcel that is loaded. The people at the depot can still take it out.
	text := fmt.Sprintf("Hold %s for a new label: %s", in.Parcel, address)
	if _, err := latchwork.Call[struct{}]("Depot.Note", Note{parcel.Depot, text}); err != nil {
		return Output{}, err
	}
	return Output{in.Parcel, "depot", parcel.Depot}, nil
}

// main is empty: the host calls the operators.
func main() {}
