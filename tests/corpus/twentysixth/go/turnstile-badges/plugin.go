// Package main keeps the badges that open the turnstile of a swimming pool.
package main

import (
	"encoding/hex"
	"hash/fnv"

	"latchwork"
)

type Grant struct {
	Badge  string `json:"badge"`
	Holder string `json:"holder"`
	Zones  []int  `json:"zones"`
}

type Badge struct {
	Badge string `json:"badge"`
}

func init() {
	latchwork.Tool("Badge.Grant", latchwork.Spec{
		Description: "Lets a badge through the turnstile.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, grant).Verify(check)
	latchwork.Tool("Badge.Revoke", latchwork.Spec{
		Description: "Removes a badge.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, revoke).Verify(check)
}

// Both operators report their change of a badge as the same resource.
func change(badge, operation, version string) latchwork.Change {
	return latchwork.Change{ResourceType: "badge", ResourceID: badge, Operation: operation, Version: version}
}

func entryOf(badge string) string { return "badge/" + badge }

func known(badge string) bool { return badge != "" && len(badge) <= 40 }

func grant(call *latchwork.Invocation, grant Grant) (Badge, error) {
	if !known(grant.Badge) || grant.Holder == "" || len(grant.Holder) > 200 {
		return Badge{}, latchwork.Fail(latchwork.InvalidInput, "badge and holder are needed")
	}
	if len(grant.Zones) == 0 || len(grant.Zones) > 20 {
		return Badge{}, latchwork.Fail(latchwork.InvalidInput, "a badge opens 1 to 20 zones")
	}
	open := uint32(0)
	for _, zone := range grant.Zones {
		if zone < 1 || zone > 20 {
			return Badge{}, latchwork.Fail(latchwork.InvalidInput, "the zones are 1 to 20")
		}
		open |= 1 << zone
	}
	value := []byte{byte(open >> 16), byte(open >> 8), byte(open)}
	entry := hex.EncodeToString(value) + " " + grant.Holder
	if err := latchwork.KVSet(entryOf(grant.Badge), []byte(entry)); err != nil {
		return Badge{}, err
	}
	call.Changed(change(grant.Badge, "grant", version(entry)))
	return Badge{grant.Badge}, nil
}

func revoke(call *latchwork.Invocation, badge Badge) (Badge, error) {
	if !known(badge.Badge) {
		return Badge{}, latchwork.Fail(latchwork.InvalidInput, "the badge is missing")
	}
	existed, err := latchwork.KVDelete(entryOf(badge.Badge))
	if err != nil {
		return Badge{}, err
	}
	if !existed {
		return Badge{}, latchwork.Fail(latchwork.InvalidInput, "there is no badge %s", badge.Badge)
	}
	call.Changed(change(badge.Badge, "revoke", ""))
	return badge, nil
}

// version is a short form of an entry. Its hash has no seed, so every build and every call makes the same.
func version(entry string) string {
	sum := fnv.New64a()
	sum.Write([]byte(entry))
	return hex.EncodeToString(sum.Sum(nil))
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	entry, found, err := latchwork.KVGet(entryOf(change.ResourceID))
	switch {
	case err != nil:
		return "", err
	case change.Operation == "revoke" && found:
		return "the badge is in use again", nil
	case change.Operation == "revoke":
		return "", nil
	case !found:
		return "the badge was removed", nil
	case version(string(entry)) != change.Version:
		return "the badge has another holder or other zones", nil
	}
	return "", nil
}

func main() {}
