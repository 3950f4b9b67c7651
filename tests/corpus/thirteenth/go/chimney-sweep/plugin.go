// Command chimney-sweep files the reports of a chimney sweep.
package main

import (
	"encoding/json"
	"strings"
	"time"

	"latchwork"
)

type Visit struct {
	House   string `json:"house"`
	Flues   int    `json:"flues"`
	Defects string `json:"defects,omitempty"`
}

type Filed struct {
	File  string `json:"file"`
	Clean bool   `json:"clean"`
}

type sheet struct {
	Visit
	FiledAt time.Time `json:"filed_at"`
}

func init() {
	latchwork.Tool("Chimney.File", latchwork.Spec{
		Description: "Files the report of a visit to a house.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, file).Reconcile(find).Verify(check)
}

// fileName makes a name of the key that the archive program accepts, too: it takes no colons and no slashes.
func fileName(key string) string {
	return "sweep-" + strings.NewReplacer(":", "-", "/", "-").Replace(key)
}

func file(call *latchwork.Invocation, visit Visit) (Filed, error) {
	if strings.TrimSpace(visit.House) == "" {
		return Filed{}, latchwork.Fail(latchwork.InvalidInput, "the house has no address")
	}
	if visit.Flues < 1 || visit.Flues > 40 {
		return Filed{}, latchwork.Fail(latchwork.InvalidInput, "%d flues", visit.Flues)
	}
	value, err := json.Marshal(sheet{visit, time.Now().UTC()})
	if err != nil {
		return Filed{}, err
	}
	if err := latchwork.KVSet(fileName(call.ExternalKey), value); err != nil {
		return Filed{}, err
	}
	return filed(call, visit), nil
}

// find is called after a crash and finds out whether the report was filed.
func find(call *latchwork.Invocation, visit Visit) (latchwork.Verdict, error) {
	_, found, err := latchwork.KVGet(fileName(call.ExternalKey))
	if err != nil {
		return latchwork.Unknown, err
	}
	if !found {
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(filed(call, visit)), nil
}

func filed(call *latchwork.Invocation, visit Visit) Filed {
	name := fileName(call.ExternalKey)
	call.Changed(latchwork.Change{ResourceType: "report", ResourceID: name, Operation: "create", Version: visit.House})
	return Filed{name, visit.Defects == ""}
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	value, found, err := latchwork.KVGet(change.ResourceID)
	if err != nil {
		return "", err
	}
	if !found {
		return "the report is missing", nil
	}
	var now sheet
	if err := json.Unmarshal(value, &now); err != nil || now.House != change.Version {
		return "the report is about another house", nil
	}
	return "", nil
}

// main is empty: the host calls the operators.
func main() {}
