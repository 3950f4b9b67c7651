// Command deed-copies keeps certified copies of deeds. The seal of a copy is written after its text.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"latchwork"
)

type Deed struct {
	Parcel string `json:"parcel"`
	Text   string `json:"text"`
}

type Sealed struct {
	Copy   string `json:"copy"`
	SHA256 string `json:"sha256"`
}

type Number struct {
	Copy string `json:"copy"`
}

type Shown struct {
	Valid bool   `json:"valid"`
	Text  string `json:"text"`
}

func init() {
	latchwork.Tool("Deed.Seal", latchwork.Spec{
		Description: "Keeps a certified copy of a deed.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, seal).Reconcile(find).Compensate(withdraw)
	latchwork.Tool("Deed.Show", latchwork.Spec{
		Description: "Shows a certified copy, if it has a seal.",
	}, show)
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// unknown marks a failure after which an entry may be in the map.
func unknown(err error) error {
	var failure *latchwork.Failure
	if errors.As(err, &failure) {
		failure.Applied = latchwork.AppliedUnknown
	}
	return err
}

func seal(call *latchwork.Invocation, deed Deed) (Sealed, error) {
	if deed.Parcel == "" || strings.TrimSpace(deed.Text) == "" {
		return Sealed{}, latchwork.Fail(latchwork.InvalidInput, "the parcel or the text of the deed is missing")
	}
	if len(deed.Text) > 60_000 {
		return Sealed{}, latchwork.Fail(latchwork.InvalidInput, "the deed of %s is too long for a copy", deed.Parcel)
	}
	if err := latchwork.KVSet("text/"+call.ExternalKey, []byte(deed.Text)); err != nil {
		return Sealed{}, err
	}
	if err := latchwork.KVSet("seal/"+call.ExternalKey, []byte(digest(deed.Text))); err != nil {
		return Sealed{}, unknown(err)
	}
	return sealed(call, deed), nil
}

func sealed(call *latchwork.Invocation, deed Deed) Sealed {
	sum := digest(deed.Text)
	call.Receipt(map[string]string{"copy": call.ExternalKey, "sha256": sum})
	call.Changed(latchwork.Change{ResourceType: "copy", ResourceID: call.ExternalKey, Operation: "create", Version: sum})
	return Sealed{call.ExternalKey, sum}
}

// find is called after a crash and looks for the seal of the copy.
func find(call *latchwork.Invocation, deed Deed) (latchwork.Verdict, error) {
	_, found, err := latchwork.KVGet("seal/" + call.ExternalKey)
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(sealed(call, deed)), nil
}

// withdraw is called when the job is undone. It removes the seal, then the text.
func withdraw(call *latchwork.Invocation, _ Deed, _ Sealed) error {
	was, err := latchwork.KVDelete("seal/" + call.ExternalKey)
	if err != nil {
		return err
	}
	if !was {
		return latchwork.Fail(latchwork.PolicyDenied, "the copy has no seal any more")
	}
	was, err = latchwork.KVDelete("text/" + call.ExternalKey)
	if err != nil {
		return unknown(err)
	}
	if !was {
		return unknown(latchwork.Fail(latchwork.PolicyDenied, "the text of the copy was removed before"))
	}
	call.Changed(latchwork.Change{ResourceType: "copy", ResourceID: call.ExternalKey, Operation: "delete"})
	return nil
}

func show(_ *latchwork.Invocation, args Number) (Shown, error) {
	sum, found, err := latchwork.KVGet("seal/" + args.Copy)
	if err != nil || !found {
		return Shown{}, err
	}
	text, _, err := latchwork.KVGet("text/" + args.Copy)
	if err != nil {
		return Shown{}, err
	}
	return Shown{digest(string(text)) == string(sum), string(text)}, nil
}

// main is empty: the host calls the operators.
func main() {}
