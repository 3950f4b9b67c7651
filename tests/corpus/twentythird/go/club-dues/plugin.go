// Collects the monthly dues of a rowing club: one debit for each member who owes something.
package main

import (
	"encoding/json"
	"time"

	"latchwork"
)

type member struct {
	Number string `json:"number"`
	IBAN   string `json:"iban"`
	Cents  int    `json:"cents"`
}

type order struct {
	Month   string   `json:"month"`
	Members []member `json:"members"`
}

type debit struct {
	Member string `json:"member"`
	IBAN   string `json:"iban"`
	Cents  int    `json:"cents"`
	Text   string `json:"text"`
}

type booked struct {
	Reference string `json:"reference"`
}

type collection struct {
	References []string `json:"references"`
	Cents      int      `json:"cents"`
	Free       int      `json:"free"`
}

const input = `{"type": "object", "required": ["month", "members"], "additionalProperties": false, "properties": {
	"month": {"type": "string", "pattern": "^20[0-9]{2}-[0-9]{2}$"},
	"members": {"type": "array", "maxItems": 300, "items": {"type": "object", "required": ["number", "iban", "cents"],
		"additionalProperties": false, "properties": {
			"number": {"type": "string", "pattern": "^[0-9]{1,8}$"},
			"iban": {"type": "string", "pattern": "^[A-Z]{2}[0-9]{2}[A-Z0-9]{10,30}$"},
			"cents": {"type": "integer", "minimum": 0, "maximum": 1000000}}}}}}`

func init() {
	latchwork.Step("Dues.Collect", latchwork.Spec{
		Description: "Collects the monthly dues of the members.",
		Input:       json.RawMessage(input),
		Effects:     []latchwork.Effect{latchwork.ExternalWrite},
		Determinism: latchwork.External,
	}, collect)
}

// actionKey names one debit. A member pays once a month, whatever job collects the dues.
func actionKey(month time.Time, number string) string {
	key, _ := json.Marshal([]string{"rowing-dues", month.Month().String(), number})
	return string(key)
}

func collect(_ latchwork.Context, in order) (collection, error) {
	out := collection{References: []string{}}
	month, err := time.Parse("2006-01", in.Month)
	if err != nil {
		return out, latchwork.Fail(latchwork.InvalidInput, "%s is no month", in.Month)
	}
	seen := map[string]bool{}
	for _, one := range in.Members {
		if seen[one.Number] {
			return out, latchwork.Fail(latchwork.InvalidInput, "member %s is listed twice", one.Number)
		}
		seen[one.Number] = true
	}
	for _, one := range in.Members {
		if one.Cents == 0 {
			out.Free++
			continue
		}
		// The text has no year, because the bank shortens it to 20 characters.
		args := debit{one.Number, one.IBAN, one.Cents, "Dues " + month.Format("Jan")}
		answer, err := latchwork.Call[booked]("Bank.Debit", args, actionKey(month, one.Number))
		if err != nil {
			return out, err
		}
		if answer.Reference == "" {
			return out, latchwork.Fail(latchwork.SchemaValidationFailed, "Bank.Debit gave no reference for member %s", one.Number)
		}
		out.References = append(out.References, answer.Reference)
		out.Cents += one.Cents
	}
	return out, nil
}

// main is empty: the host calls the operators.
func main() {}
