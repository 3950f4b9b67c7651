package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"latchwork"
)

// Rider extends the cover of a policy.
type Rider struct {
	Kind  string `json:"kind"`
	Limit int    `json:"limit"`
}

type Policy struct {
	Holder   string   `json:"holder"`
	Premium  int      `json:"premium"`
	Coverage []string `json:"coverage"`
	Rider    *Rider   `json:"rider,omitempty"`
}

type Request struct {
	Policies []Policy `json:"policies"`
}

type Digest struct {
	Holder string `json:"holder"`
	Digest string `json:"digest"`
}

type Digests struct {
	Digests []Digest `json:"digests"`
	Premium int      `json:"premium"`
}

func init() {
	latchwork.Step("Policy.Digest", latchwork.Spec{
		Description: "Computes a digest of the terms of each policy, by which renewals are compared.",
	}, digest)
}

func digest(_ latchwork.Context, request Request) (Digests, error) {
	if len(request.Policies) > 500 {
		return Digests{}, latchwork.Fail(latchwork.InvalidInput, "at most 500 policies are compared at once")
	}
	made := Digests{Digests: []Digest{}}
	for _, policy := range request.Policies {
		if policy.Premium < 0 || policy.Premium > 1_000_000 {
			return Digests{}, latchwork.Fail(latchwork.InvalidInput, "the premium of %s is out of range", policy.Holder)
		}
		// The order in which the coverage was entered is not part of the terms.
		slices.Sort(policy.Coverage)
		sum := sha256.Sum256(fmt.Appendf(nil, "%+v", policy))
		made.Digests = append(made.Digests, Digest{policy.Holder, hex.EncodeToString(sum[:])})
		made.Premium += policy.Premium
	}
	return made, nil
}

func main() {}
