// Command choir-folders notes which singer has which folder of sheet music for a concert.
package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"latchwork"
)

type Singer struct {
	Name  string `json:"name"`
	Voice string `json:"voice"`
}

type Concert struct {
	Concert string   `json:"concert"`
	Singers []Singer `json:"singers"`
}

type Assigned struct {
	Concert string         `json:"concert"`
	Folders int            `json:"folders"`
	Voices  map[string]int `json:"voices"`
}

var voices = []string{"soprano", "alto", "tenor", "bass"}

func init() {
	latchwork.Tool("Folder.Assign", latchwork.Spec{
		Description: "Notes a folder of sheet music for each singer.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, assign).Compensate(collect)
}

func assign(call *latchwork.Invocation, concert Concert) (Assigned, error) {
	if strings.TrimSpace(concert.Concert) == "" || len(concert.Concert) > 200 {
		return Assigned{}, latchwork.Fail(latchwork.InvalidInput, "a concert has a name of 1 to 200 bytes")
	}
	if len(concert.Singers) < 1 || len(concert.Singers) > 80 {
		return Assigned{}, latchwork.Fail(latchwork.InvalidInput, "%s: 1 to 80 singers get folders", concert.Concert)
	}
	made := Assigned{Concert: concert.Concert, Folders: len(concert.Singers), Voices: map[string]int{}}
	for i, singer := range concert.Singers {
		if strings.TrimSpace(singer.Name) == "" || len(singer.Name) > 200 || !slices.Contains(voices, singer.Voice) {
			return Assigned{}, latchwork.Fail(latchwork.InvalidInput, "singer %d has no name or no voice", i+1)
		}
		made.Voices[singer.Voice]++
	}
	for i, singer := range concert.Singers {
		if err := latchwork.KVSet(name(call, i), []byte(line(concert, singer))); err != nil {
			return Assigned{}, after(i, err)
		}
		call.Changed(latchwork.Change{
			ResourceType: "folder", ResourceID: name(call, i), Operation: "create", Version: line(concert, singer),
		})
	}
	return made, nil
}

// collect is called when the job is undone. It looks at every folder before it removes the first one.
func collect(call *latchwork.Invocation, concert Concert, _ Assigned) error {
	for i, singer := range concert.Singers {
		found, there, err := latchwork.KVGet(name(call, i))
		if err != nil {
			return applied(err, latchwork.AppliedNo)
		}
		if !there || string(found) != line(concert, singer) {
			return latchwork.Fail(latchwork.PolicyDenied, "the folder of %s is not as it was noted", singer.Name)
		}
	}
	for i, singer := range concert.Singers {
		there, err := latchwork.KVDelete(name(call, i))
		if err != nil {
			return after(i, err)
		}
		if !there {
			return after(i, latchwork.Fail(latchwork.PolicyDenied, "the folder of %s is gone", singer.Name))
		}
		call.Changed(latchwork.Change{ResourceType: "folder", ResourceID: name(call, i), Operation: "delete"})
	}
	return nil
}

// after marks an error that comes after some folders were noted or removed.
func after(folders int, err error) error {
	if folders == 0 {
		return err
	}
	return applied(err, latchwork.AppliedUnknown)
}

func applied(err error, state latchwork.Applied) error {
	var failure *latchwork.Failure
	if errors.As(err, &failure) {
		failure.Applied = state
	}
	return err
}

func name(call *latchwork.Invocation, place int) string {
	return fmt.Sprintf("folder/%s/%d", call.ExternalKey, place+1)
}

func line(concert Concert, singer Singer) string {
	return fmt.Sprintf("%s: %s (%s)", concert.Concert, singer.Name, singer.Voice)
}

// main is empty: the host calls the operators.
func main() {}
