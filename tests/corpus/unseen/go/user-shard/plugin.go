package main

import (
	"hash/maphash"

	"latchwork"
)

type Users struct {
	Users  []string `json:"users"`
	Shards int      `json:"shards"`
}

type Shards struct {
	Shards []int `json:"shards"`
}

var seed = maphash.MakeSeed()

func init() {
	latchwork.Step("User.Shard", latchwork.Spec{
		Description: "Assigns users to shards.",
		Determinism: latchwork.Pure,
	}, shard)
}

func shard(_ latchwork.Context, users Users) (Shards, error) {
	if users.Shards < 1 {
		return Shards{}, latchwork.Fail(latchwork.InvalidInput, "there is no shard")
	}
	shards := make([]int, len(users.Users))
	for i, user := range users.Users {
		shards[i] = int(maphash.String(seed, user) % uint64(users.Shards))
	}
	return Shards{shards}, nil
}

// main is empty: the host calls the operators.
func main() {}
