package main

import (
	"encoding/json"
	"strings"
	"time"

	"latchwork"
)

// Flat is a flat with its tenant and its monthly rent.
type Flat struct {
	Flat  string `json:"flat"`
	Email string `json:"email"`
	Cents int64  `json:"cents"`
}

type Run struct {
	House  string `json:"house"`
	Period string `json:"period"`
	Flats  []Flat `json:"flats"`
}

// Demand is the letter to one tenant.
type Demand struct {
	House  string `json:"house"`
	Flat   string `json:"flat"`
	Email  string `json:"email"`
	Period string `json:"period"`
	Due    string `json:"due"`
	Cents  int64  `json:"cents"`
}

type Sent struct {
	Message string `json:"message"`
}

type Line struct {
	Flat    string `json:"flat"`
	Message string `json:"message"`
}

type Result struct {
	Due   string `json:"due"`
	Cents int64  `json:"cents"`
	Sent  []Line `json:"sent"`
}

func init() {
	latchwork.Step("RentRun.Send", latchwork.Spec{
		Description: "Sends the rent demand of a month to each tenant of a house.",
		Determinism: latchwork.External,
		Effects:     []latchwork.Effect{latchwork.ExternalSend},
		Input: latchwork.Schema(`{
  "type": "object", "additionalProperties": false, "required": ["house", "period", "flats"],
  "properties": {
    "house": {"type": "string", "minLength": 1, "maxLength": 60},
    "period": {"type": "string", "pattern": "^20[0-9]{2}-(0[1-9]|1[0-2])$"},
    "flats": {"type": "array", "maxItems": 60, "items": {
      "type": "object", "additionalProperties": false, "required": ["flat", "email", "cents"],
      "properties": {
        "flat": {"type": "string", "minLength": 1, "maxLength": 12},
        "email": {"type": "string", "minLength": 3, "maxLength": 120},
        "cents": {"type": "integer", "minimum": 1, "maximum": 100000000}}}}}}`),
	}, send)
}

func send(_ latchwork.Context, run Run) (Result, error) {
	month, err := time.Parse("2006-01", run.Period)
	if err != nil {
		return Result{}, latchwork.Fail(latchwork.InvalidInput, "the period %s is no month", run.Period)
	}
	// A flat gets one demand for each month.
	keys := make([]string, len(run.Flats))
	seen := map[string]bool{}
	for i, flat := range run.Flats {
		if !strings.Contains(flat.Email, "@") {
			return Result{}, latchwork.Fail(latchwork.InvalidInput, "flat %s has no email address", flat.Flat)
		}
		key, err := json.Marshal([]any{"rent", run.House, flat.Flat, month.Month()})
		if err != nil {
			return Result{}, err
		}
		keys[i] = string(key)
		if seen[keys[i]] {
			return Result{}, latchwork.Fail(latchwork.InvalidInput, "flat %s is listed twice", flat.Flat)
		}
		seen[keys[i]] = true
	}

	due := month.AddDate(0, 0, 2).Format(time.DateOnly)
	result := Result{Due: due, Sent: []Line{}}
	for i, flat := range run.Flats {
		demand := Demand{run.House, flat.Flat, flat.Email, run.Period, due, flat.Cents}
		sent, err := latchwork.Call[Sent]("RentMail.Send", demand, keys[i])
		if err != nil {
			return Result{}, err
		}
		result.Sent = append(result.Sent, Line{flat.Flat, sent.Message})
		result.Cents += flat.Cents
	}
	return result, nil
}

func main() {}
