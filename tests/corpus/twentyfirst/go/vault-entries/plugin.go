package main

import (
	"encoding/json"
	"strings"
	"time"

	"latchwork"
)

type Item struct {
	Owner string `json:"owner"`
	What  string `json:"what"`
}

type Removal struct {
	Entry string `json:"entry"`
}

type Kept struct {
	Entry    string    `json:"entry"`
	StoredAt time.Time `json:"stored_at"`
}

// record is an entry of the map. A removed item stays as a record, so that a repetition of Vault.Store finds it.
type record struct {
	Item     Item      `json:"item"`
	StoredAt time.Time `json:"stored_at"`
	Removed  bool      `json:"removed"`
}

func init() {
	latchwork.Tool("Vault.Store", latchwork.Spec{
		Description:     "Stores an item in the vault with the present time.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 7 * 24 * time.Hour,
	}, store).Reconcile(find).Verify(check)
	latchwork.Tool("Vault.Remove", latchwork.Spec{
		Description: "Removes an item from the vault.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, remove).Verify(check)
}

func read(key string) (record, bool, error) {
	value, found, err := latchwork.KVGet("vault/" + key)
	if err != nil || !found {
		return record{}, false, err
	}
	var r record
	if err := json.Unmarshal(value, &r); err != nil {
		return record{}, false, latchwork.Fail(latchwork.PolicyDenied, "entry %s: %w", key, err)
	}
	return r, true, nil
}

func write(key string, r record) error {
	value, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return latchwork.KVSet("vault/"+key, value)
}

func changed(call *latchwork.Invocation, id, operation, version string) {
	call.Changed(latchwork.Change{ResourceType: "item", ResourceID: id, Operation: operation, Version: version})
}

func store(call *latchwork.Invocation, item Item) (Kept, error) {
	if strings.TrimSpace(item.Owner) == "" || strings.TrimSpace(item.What) == "" {
		return Kept{}, latchwork.Fail(latchwork.InvalidInput, "owner or item are empty")
	}
	// The first try decides the time. A repetition keeps the record, also if the item was removed since.
	r, found, err := read(call.ExternalKey)
	if err == nil && !found {
		r = record{Item: item, StoredAt: time.Now().UTC()}
		err = write(call.ExternalKey, r)
	}
	if err != nil {
		return Kept{}, err
	}
	return kept(call, r), nil
}

func kept(call *latchwork.Invocation, r record) Kept {
	changed(call, call.ExternalKey, "create", "stored")
	return Kept{call.ExternalKey, r.StoredAt}
}

// find is called after a crash and finds out whether the item was stored.
func find(call *latchwork.Invocation, _ Item) (latchwork.Verdict, error) {
	r, found, err := read(call.ExternalKey)
	switch {
	case err != nil:
		return latchwork.Unknown, err
	case !found:
		return latchwork.DidNotHappen, nil
	}
	return latchwork.Happened(kept(call, r)), nil
}

func remove(call *latchwork.Invocation, removal Removal) (Kept, error) {
	r, found, err := read(removal.Entry)
	if err == nil && !found {
		err = latchwork.Fail(latchwork.InvalidInput, "no item %s in the vault", removal.Entry)
	}
	if err != nil {
		return Kept{}, err
	}
	// A second removal writes the same record.
	r.Removed = true
	if err := write(removal.Entry, r); err != nil {
		return Kept{}, err
	}
	changed(call, removal.Entry, "update", "removed")
	return Kept{removal.Entry, r.StoredAt}, nil
}

// check is called when a job is resumed.
func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	r, found, err := read(change.ResourceID)
	if err == nil && (!found || r.Removed != (change.Version == "removed")) {
		return "the item is in another state", nil
	}
	return "", err
}

// main is empty: the host calls the operators.
func main() {}
