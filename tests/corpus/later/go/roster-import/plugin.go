package main

import (
	"fmt"
	"strings"

	"latchwork"
)

type Table struct {
	Team string   `json:"team"`
	Rows []string `json:"rows"`
}

type Imported struct {
	Team string `json:"team"`
	Rows int    `json:"rows"`
}

func init() {
	latchwork.Tool("Roster.Import", latchwork.Spec{
		Description: "Imports the members of a team from rows such as \"Ada;ada@example.org\".",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, load)
}

func load(call *latchwork.Invocation, table Table) (Imported, error) {
	if table.Team == "" || len(table.Rows) == 0 {
		return Imported{}, latchwork.Fail(latchwork.InvalidInput, "a table needs a team and rows")
	}
	for i, row := range table.Rows {
		name, address, found := strings.Cut(row, ";")
		name, address = strings.TrimSpace(name), strings.TrimSpace(address)
		if !found || name == "" || !strings.Contains(address, "@") {
			return Imported{}, latchwork.Fail(latchwork.InvalidInput, "row %d is not a name and an address: %q", i+1, row)
		}
		key := fmt.Sprintf("member/%s/%d", call.ExternalKey, i)
		if err := latchwork.KVSet(key, []byte(name+" <"+address+">")); err != nil {
			return Imported{}, fmt.Errorf("row %d: %w", i+1, err)
		}
	}
	call.Changed(latchwork.Change{ResourceType: "team", ResourceID: table.Team, Operation: "import"})
	return Imported{table.Team, len(table.Rows)}, nil
}

// main is empty: the host calls the operators.
func main() {}
