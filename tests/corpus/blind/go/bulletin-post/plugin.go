package main

import (
	"encoding/json"
	"time"

	"latchwork"
)

type Bulletin struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

type Posted struct {
	Entry string    `json:"entry"`
	Since time.Time `json:"since"`
}

type entry struct {
	Bulletin
	Since time.Time `json:"since"`
}

func init() {
	latchwork.Tool("BulletinPost.Pin", latchwork.Spec{
		Description:     "Pins a bulletin to the board of the house.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 30 * 24 * time.Hour,
	}, pin)
}

func pin(call *latchwork.Invocation, bulletin Bulletin) (Posted, error) {
	if bulletin.Title == "" || len(bulletin.Text) > 4000 || len(bulletin.Title) > 400 {
		return Posted{}, latchwork.Fail(latchwork.InvalidInput, "a bulletin has a title, and a text of up to 4000 bytes")
	}
	name := "bulletin/" + call.ExternalKey
	known, found, err := latchwork.KVGet(name)
	if err != nil {
		return Posted{}, err
	}
	made := entry{bulletin, time.Now().UTC().Truncate(time.Second)}
	if found {
		if err := json.Unmarshal(known, &made); err != nil {
			failure := latchwork.Fail(latchwork.DependencyUnavailable, "the entry of an earlier try is damaged")
			failure.Applied = latchwork.AppliedUnknown
			return Posted{}, failure
		}
	} else {
		value, err := json.Marshal(made)
		if err != nil {
			return Posted{}, err
		}
		if err := latchwork.KVSet(name, value); err != nil {
			return Posted{}, err
		}
	}
	call.Changed(latchwork.Change{ResourceType: "bulletin", ResourceID: name, Operation: "create", Version: made.Since.Format(time.RFC3339)})
	return Posted{name, made.Since}, nil
}

// main is empty: the host calls the operators.
func main() {}
