package main

import (
	"errors"
	"regexp"
	"strings"

	"latchwork"
)

type Plaque struct {
	Site string `json:"site"`
	Text string `json:"text"`
}

type Mounted struct {
	Record string `json:"record"`
	Lines  int    `json:"lines"`
}

type Place struct {
	Site string `json:"site"`
}

type Shown struct {
	Record string `json:"record"`
	Text   string `json:"text"`
}

var siteName = regexp.MustCompile(`^[a-z0-9-]{1,60}$`)

func init() {
	latchwork.Tool("Plaque.Mount", latchwork.Spec{
		Description: "Sets the text of the plaque at a site. Earlier texts are kept.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, mount).Reconcile(find)
	latchwork.Tool("Plaque.Show", latchwork.Spec{Description: "Shows the plaque at a site."}, show)
}

func mount(call *latchwork.Invocation, plaque Plaque) (Mounted, error) {
	if !siteName.MatchString(plaque.Site) {
		return Mounted{}, latchwork.Fail(latchwork.InvalidInput, "a site has lower-case letters, digits and hyphens")
	}
	if text := strings.TrimSpace(plaque.Text); text == "" || len(text) > 4000 {
		return Mounted{}, latchwork.Fail(latchwork.InvalidInput, "a plaque has 1 to 4000 bytes of text")
	}
	if err := latchwork.KVSet("site#"+plaque.Site, []byte(call.ExternalKey)); err != nil {
		return Mounted{}, err
	}
	if err := latchwork.KVSet("text#"+call.ExternalKey, []byte(plaque.Text)); err != nil {
		return Mounted{}, afterEffect(err)
	}
	return mounted(call, plaque), nil
}

func mounted(call *latchwork.Invocation, plaque Plaque) Mounted {
	call.Changed(latchwork.Change{ResourceType: "plaque", ResourceID: plaque.Site, Operation: "update", ExternalRef: call.ExternalKey})
	return Mounted{call.ExternalKey, strings.Count(plaque.Text, "\n") + 1}
}

// find is called after a crash and finds out whether the call happened.
func find(call *latchwork.Invocation, plaque Plaque) (latchwork.Verdict, error) {
	_, found, err := latchwork.KVGet("text#" + call.ExternalKey)
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(mounted(call, plaque)), nil
}

func show(_ *latchwork.Invocation, place Place) (Shown, error) {
	record, found, err := latchwork.KVGet("site#" + place.Site)
	if err != nil {
		return Shown{}, err
	}
	if !found {
		return Shown{}, latchwork.Fail(latchwork.MissingRequiredContext, "there is no plaque at %s", place.Site)
	}
	text, found, err := latchwork.KVGet("text#" + string(record))
	if err != nil {
		return Shown{}, err
	}
	if !found {
		text = []byte("(in preparation)")
	}
	return Shown{string(record), string(text)}, nil
}

// afterEffect states that the failed call may have changed the map.
func afterEffect(err error) error {
	var failure *latchwork.Failure
	if errors.As(err, &failure) {
		failure.Applied = latchwork.AppliedUnknown
	}
	return err
}

// main is empty: the host calls the operators.
func main() {}
