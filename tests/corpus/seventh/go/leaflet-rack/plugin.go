package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"latchwork"
)

type Leaflet struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

type Racked struct {
	ID    string    `json:"id"`
	Title string    `json:"title"`
	Sum   string    `json:"sum"`
	At    time.Time `json:"at"`
}

type Which struct {
	ID string `json:"id"`
}

func init() {
	latchwork.Tool("Leaflet.Rack", latchwork.Spec{
		Description: "Puts a leaflet into the rack.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, rack).Reconcile(find).Verify(check).Compensate(takeOut)
	latchwork.Tool("Leaflet.Read", latchwork.Spec{Description: "Reads a leaflet of the rack."}, read)
}

func rack(call *latchwork.Invocation, leaflet Leaflet) (Racked, error) {
	if leaflet.Title == "" || len(leaflet.Title) > 200 || len(leaflet.Text) > 60000 {
		return Racked{}, latchwork.Fail(latchwork.InvalidInput, "a leaflet has a title of up to 200 and a text of up to 60000 bytes")
	}
	if err := latchwork.KVSet("text/"+call.ExternalKey, []byte(leaflet.Text)); err != nil {
		return Racked{}, err
	}
	// Readers begin with the card, so the leaflet is in the rack from here on.
	card := Racked{call.ExternalKey, leaflet.Title, sum([]byte(leaflet.Text)), time.Now().UTC()}
	text, err := json.Marshal(card)
	if err != nil {
		return Racked{}, unsure(latchwork.Fail(latchwork.DependencyUnavailable, "card: %w", err))
	}
	if err := latchwork.KVSet("card/"+call.ExternalKey, text); err != nil {
		return Racked{}, unsure(err)
	}
	return racked(call, card), nil
}

func find(call *latchwork.Invocation, _ Leaflet) (latchwork.Verdict, error) {
	card, found, err := cardOf(call.ExternalKey)
	switch {
	case err != nil:
		return latchwork.Unknown, err
	case !found:
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(racked(call, card)), nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	_, found, err := cardOf(change.ResourceID)
	if err != nil {
		return "", err
	}
	text, there, err := latchwork.KVGet("text/" + change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found || !there:
		return "the leaflet is no longer in the rack", nil
	case sum(text) != change.Version:
		return "the leaflet has another text", nil
	}
	return "", nil
}

func takeOut(call *latchwork.Invocation, _ Leaflet, made Racked) error {
	card, found, err := cardOf(call.ExternalKey)
	if err != nil {
		return err
	}
	text, there, err := latchwork.KVGet("text/" + call.ExternalKey)
	if err != nil {
		return err
	}
	if !found || !there || card.Title != made.Title || sum(text) != made.Sum || !card.At.Equal(made.At) {
		return latchwork.Fail(latchwork.PolicyDenied, "the leaflet was changed or taken out")
	}
	if was, err := latchwork.KVDelete("card/" + call.ExternalKey); err != nil {
		return unsure(err)
	} else if !was {
		return latchwork.Fail(latchwork.PolicyDenied, "the leaflet was taken out")
	}
	if _, err := latchwork.KVDelete("text/" + call.ExternalKey); err != nil {
		return unsure(err)
	}
	call.Changed(latchwork.Change{ResourceType: "leaflet", ResourceID: call.ExternalKey, Operation: "delete"})
	return nil
}

func read(_ *latchwork.Invocation, which Which) (Leaflet, error) {
	card, found, err := cardOf(which.ID)
	if err != nil {
		return Leaflet{}, err
	}
	if !found {
		return Leaflet{}, latchwork.Fail(latchwork.InvalidInput, "there is no leaflet %s", which.ID)
	}
	text, there, err := latchwork.KVGet("text/" + which.ID)
	if err != nil {
		return Leaflet{}, err
	}
	if !there {
		return Leaflet{}, latchwork.Fail(latchwork.TransientDBLock, "leaflet %s is being taken out", which.ID)
	}
	return Leaflet{card.Title, string(text)}, nil
}

func cardOf(id string) (card Racked, found bool, err error) {
	text, found, err := latchwork.KVGet("card/" + id)
	if err != nil || !found {
		return card, false, err
	}
	if err := json.Unmarshal(text, &card); err != nil {
		return card, false, latchwork.Fail(latchwork.DependencyUnavailable, "card of %s: %w", id, err)
	}
	return card, true, nil
}

func racked(call *latchwork.Invocation, card Racked) Racked {
	call.Changed(latchwork.Change{ResourceType: "leaflet", ResourceID: call.ExternalKey, Operation: "create", Version: card.Sum})
	return card
}

// unsure says of a failure that an entry may have been written or deleted before.
func unsure(err error) error {
	var failure *latchwork.Failure
	if errors.As(err, &failure) {
		failure.Applied = latchwork.AppliedUnknown
	}
	return err
}

func sum(text []byte) string {
	digest := sha256.Sum256(text)
	return hex.EncodeToString(digest[:])
}

// main is empty: the host calls the operators.
func main() {}
