// Command fixture-draw draws the first round of a cup: each team plays against one other team.
package main

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"

	"latchwork"
)

type Cup struct {
	Name  string   `json:"name"`
	Year  int      `json:"year"`
	Teams []string `json:"teams"`
}

type Match struct {
	Home string `json:"home"`
	Away string `json:"away"`
}

type Draw struct {
	Name    string  `json:"name"`
	Year    int     `json:"year"`
	Matches []Match `json:"matches"`
	// Bye is the team that does not play in the first round, if the number of teams is odd.
	Bye *string `json:"bye"`
}

func init() {
	latchwork.Step("Fixture.Draw", latchwork.Spec{
		Description: "Draws the first round of a cup, in a way that everyone can repeat.",
		Determinism: latchwork.Pure,
	}, draw)
}

func draw(_ latchwork.Context, cup Cup) (Draw, error) {
	if strings.TrimSpace(cup.Name) == "" || cup.Year < 1800 || cup.Year > 2200 {
		return Draw{}, latchwork.Fail(latchwork.InvalidInput, "a cup has a name and a year")
	}
	if len(cup.Teams) < 2 || len(cup.Teams) > 512 {
		return Draw{}, latchwork.Fail(latchwork.InvalidInput, "%s: 2 to 512 teams take part", cup.Name)
	}
	// The order in which the teams have registered has no influence.
	teams := slices.Clone(cup.Teams)
	slices.Sort(teams)
	seen := map[string]bool{}
	for _, team := range teams {
		if strings.TrimSpace(team) == "" {
			return Draw{}, latchwork.Fail(latchwork.InvalidInput, "%s: a team has no name", cup.Name)
		}
		if seen[team] {
			return Draw{}, latchwork.Fail(latchwork.InvalidInput, "%s: %s takes part twice", cup.Name, team)
		}
		seen[team] = true
	}

	random := generator(cup, teams)
	random.Shuffle(len(teams), func(i, j int) { teams[i], teams[j] = teams[j], teams[i] })
	made := Draw{Name: cup.Name, Year: cup.Year, Matches: []Match{}}
	if len(teams)%2 == 1 {
		made.Bye = &teams[0]
	}
	for i := len(teams) % 2; i < len(teams); i += 2 {
		made.Matches = append(made.Matches, Match{teams[i], teams[i+1]})
	}
	return made, nil
}

// generator returns a generator that is seeded with the hash of the cup and its teams.
func generator(cup Cup, teams []string) *rand.Rand {
	hash := sha256.New()
	var year [8]byte
	binary.BigEndian.PutUint64(year[:], uint64(cup.Year))
	hash.Write(year[:])
	for _, text := range append([]string{cup.Name}, teams...) {
		hash.Write([]byte(text))
		hash.Write([]byte{0})
	}
	sum := hash.Sum(nil)
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])))
}

// main is empty: the host calls the operators.
func main() {}
