// Command leaflet-store stores the leaflets of a museum: a head with the title, and the body.
package main

import (
	"strconv"
	"strings"
	"time"

	"latchwork"
)

type Leaflet struct {
	Title string `json:"title"`
	Room  int    `json:"room"`
	Body  string `json:"body"`
}

type Stored struct {
	Leaflet string `json:"leaflet"`
	Words   int    `json:"words"`
}

type Named struct {
	Leaflet string `json:"leaflet"`
}

type Head struct {
	Title string `json:"title"`
	Room  int    `json:"room"`
}

func init() {
	latchwork.Tool("Leaflet.Store", latchwork.Spec{
		Description:     "Stores a leaflet.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 72 * time.Hour,
	}, store).Verify(check)
	latchwork.Tool("Leaflet.Head", latchwork.Spec{
		Description: "Reads title and room of a leaflet.",
		Effects:     []latchwork.Effect{latchwork.ReadOnly},
	}, head)
}

func store(call *latchwork.Invocation, leaflet Leaflet) (Stored, error) {
	title := strings.TrimSpace(leaflet.Title)
	if title == "" || len(title) > 200 {
		return Stored{}, latchwork.Fail(latchwork.InvalidInput, "a leaflet needs a title of 1 to 200 bytes")
	}
	if leaflet.Room < 1 || leaflet.Room > 99 {
		return Stored{}, latchwork.Fail(latchwork.InvalidInput, "the museum has no room %d", leaflet.Room)
	}
	words := len(strings.Fields(leaflet.Body))
	if words == 0 {
		return Stored{}, latchwork.Fail(latchwork.InvalidInput, "the leaflet has no text")
	}
	line := strconv.Itoa(leaflet.Room) + " " + title
	if err := latchwork.KVSet(call.ExternalKey, []byte(line)); err != nil {
		return Stored{}, err
	}
	if err := latchwork.KVSet(call.ExternalKey+"~body", []byte(leaflet.Body)); err != nil {
		return Stored{}, err
	}
	call.Changed(latchwork.Change{
		ResourceType: "leaflet", ResourceID: call.ExternalKey, Operation: "create", Version: line,
	})
	return Stored{call.ExternalKey, words}, nil
}

// head returns what the room plan shows of a leaflet.
func head(_ *latchwork.Invocation, named Named) (Head, error) {
	if named.Leaflet == "" || len(named.Leaflet) > 128 {
		return Head{}, latchwork.Fail(latchwork.InvalidInput, "a leaflet cannot have this name")
	}
	line, found, err := latchwork.KVGet(named.Leaflet)
	if err != nil {
		return Head{}, err
	}
	if !found {
		return Head{}, latchwork.Fail(latchwork.MissingRequiredContext, "there is no leaflet %s", named.Leaflet)
	}
	number, title, _ := strings.Cut(string(line), " ")
	room, err := strconv.Atoi(number)
	if err != nil {
		return Head{}, latchwork.Fail(latchwork.MissingRequiredContext, "the leaflet %s has no room", named.Leaflet)
	}
	return Head{title, room}, nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	line, found, err := latchwork.KVGet(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the leaflet is missing", nil
	case string(line) != change.Version:
		return "the leaflet has another head", nil
	}
	return "", nil
}

// main is empty: the host calls the operators.
func main() {}
