// Reminds the owners of animals of a vaccination that is due. An animal gets one reminder for a vaccine and a month,
// whatever job sends it.
package main

import (
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"latchwork"
)

type animal struct {
	Chip    string `json:"chip"`
	Owner   string `json:"owner"`
	Vaccine string `json:"vaccine"`
}

type list struct {
	Month   string   `json:"month"`
	Animals []animal `json:"animals"`
}

type letter struct {
	To      string `json:"to"`
	Subject string `json:"subject"`
}

type sent struct {
	ID string `json:"id"`
}

type failed struct {
	Chip    string `json:"chip"`
	Vaccine string `json:"vaccine"`
	Code    string `json:"code"`
}

type report struct {
	At     time.Time `json:"at"`
	Sent   []string  `json:"sent"`
	Failed []failed  `json:"failed"`
}

const input = `{"type": "object", "required": ["month", "animals"], "additionalProperties": false, "properties": {
	"month": {"type": "string", "pattern": "^20[0-9]{2}-(0[1-9]|1[0-2])$"},
	"animals": {"type": "array", "maxItems": 100, "items": {"type": "object", "required": ["chip", "owner", "vaccine"],
		"additionalProperties": false, "properties": {
			"chip": {"type": "string", "pattern": "^[0-9]{15}$"},
			"owner": {"type": "string", "minLength": 3, "maxLength": 200},
			"vaccine": {"type": "string", "minLength": 1, "maxLength": 40}}}}}}`

func init() {
	latchwork.Step("Vaccine.Remind", latchwork.Spec{
		Description: "Sends a reminder for each vaccination that is due.",
		Input:       json.RawMessage(input),
		Effects:     []latchwork.Effect{latchwork.ExternalSend},
		Determinism: latchwork.External,
	}, remind)
}

func remind(ctx latchwork.Context, in list) (report, error) {
	requests := make([]latchwork.Request, len(in.Animals))
	keys := map[string]bool{}
	for i, one := range in.Animals {
		// The key is a JSON array, so that two different reminders never have one key.
		key, err := json.Marshal([]string{"vaccine-reminder", in.Month, one.Chip, one.Vaccine})
		if err != nil {
			return report{}, latchwork.Fail(latchwork.InvalidInput, "animal %s has no key: %w", one.Chip, err)
		}
		if keys[string(key)] {
			return report{}, latchwork.Fail(latchwork.InvalidInput, "animal %s is listed twice for one vaccine", one.Chip)
		}
		keys[string(key)] = true
		requests[i] = latchwork.Request{
			Operator: "Mail.Send", ActionKey: string(key),
			Args: letter{one.Owner, "Vaccination due in " + in.Month + ": " + one.Vaccine + ", chip " + one.Chip},
		}
	}

	answers, err := latchwork.CallAll(requests...)
	if err != nil {
		return report{}, err
	}
	// One refused address must not hide the letters that were sent, so failures are part of the report.
	out := report{Sent: []string{}, Failed: []failed{}}
	for i, answer := range answers {
		var one sent
		err := answer.Into(&one)
		var failure *latchwork.Failure
		switch {
		case errors.As(err, &failure):
			out.Failed = append(out.Failed, failed{in.Animals[i].Chip, in.Animals[i].Vaccine, string(failure.Code)})
		case err != nil:
			return report{}, err
		case one.ID == "":
			out.Failed = append(out.Failed, failed{in.Animals[i].Chip, in.Animals[i].Vaccine, string(latchwork.SchemaValidationFailed)})
		default:
			out.Sent = append(out.Sent, one.ID)
		}
	}
	out.At = time.Now().UTC()
	slog.Info("reminders", "job", ctx.JobID, "sent", len(out.Sent), "failed", len(out.Failed))
	return out, nil
}

// main is empty: the host calls the operators.
func main() {}
