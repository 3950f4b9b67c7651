// Arrears-letters reminds the members of an allotment society of their dues. After the third letter the account of a
// member is marked, so that the treasurer visits.
package main

import (
	"encoding/json"

	"latchwork"
)

type Debt struct {
	Member  string `json:"member"`
	Cents   int    `json:"cents"`
	Letters int    `json:"letters"`
}

type Round struct {
	Quarter string `json:"quarter"`
	Debts   []Debt `json:"debts"`
}

type Sent struct {
	ID string `json:"id"`
}

type Reminded struct {
	Member string `json:"member"`
	Letter string `json:"letter"`
	Marked bool   `json:"marked"`
}

type Result struct {
	Reminded []Reminded `json:"reminded"`
	Settled  int        `json:"settled"`
}

func init() {
	latchwork.Step("Arrears.Remind", latchwork.Spec{
		Description: "Reminds members of their dues, and marks accounts after the third letter.",
		Determinism: latchwork.External,
		// Letters go out, and accounts are written.
		Effects: []latchwork.Effect{latchwork.ExternalSend, latchwork.ExternalWrite},
		Input: latchwork.Schema(`{"type":"object","properties":{
			"quarter":{"type":"string","pattern":"^[0-9]{4}-Q[1-4]$"},
			"debts":{"type":"array","maxItems":200,"items":{"type":"object","properties":{
				"member":{"type":"string","minLength":1,"maxLength":40},
				"cents":{"type":"integer","minimum":0,"maximum":10000000},
				"letters":{"type":"integer","minimum":0,"maximum":20}},
				"required":["member","cents","letters"],"additionalProperties":false}}},
			"required":["quarter","debts"],"additionalProperties":false}`),
	}, remind)
}

// key names one action for one member in one quarter of a year.
func key(action, quarter, member string) string {
	parts, _ := json.Marshal([]string{action, quarter, member})
	return string(parts)
}

func remind(_ latchwork.Context, round Round) (Result, error) {
	seen := make(map[string]bool, len(round.Debts))
	for _, debt := range round.Debts {
		if seen[debt.Member] {
			return Result{}, latchwork.Fail(latchwork.InvalidInput, "member %s is listed twice", debt.Member)
		}
		seen[debt.Member] = true
	}

	result := Result{Reminded: []Reminded{}}
	for _, debt := range round.Debts {
		if debt.Cents == 0 {
			result.Settled++
			continue
		}
		letter, err := latchwork.Call[Sent]("Post.Letter",
			map[string]any{"member": debt.Member, "quarter": round.Quarter, "cents": debt.Cents, "number": debt.Letters + 1},
			key("dues letter", round.Quarter, debt.Member))
		if err != nil {
			return Result{}, err
		}
		reminded := Reminded{Member: debt.Member, Letter: letter.ID}
		if debt.Letters >= 2 {
			_, err := latchwork.Call[json.RawMessage]("Accounts.Mark",
				map[string]any{"member": debt.Member, "quarter": round.Quarter, "mark": "visit"},
				key("account mark", round.Quarter, debt.Member))
			if err != nil {
				return Result{}, err
			}
			reminded.Marked = true
		}
		result.Reminded = append(result.Reminded, reminded)
	}
	return result, nil
}

func main() {}
