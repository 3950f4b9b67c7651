// Package main reminds the owners of boats of their rent for the quay: by text message, and by letter where no message can
// be delivered. One owner who cannot be reached does not hold up the others.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"latchwork"
)

type Owner struct {
	ID    string `json:"id"`
	Phone string `json:"phone,omitempty"`
	Cents int64  `json:"cents"`
}

type Quarter struct {
	Quarter string  `json:"quarter"`
	Owners  []Owner `json:"owners"`
}

type Refusal struct {
	ID   string         `json:"id"`
	Code latchwork.Code `json:"code"`
}

type Reminded struct {
	Messages []string  `json:"messages"`
	Letters  []string  `json:"letters"`
	Refused  []Refusal `json:"refused"`
	Seconds  int       `json:"seconds"`
}

func init() {
	latchwork.Step("Quay.Remind", latchwork.Spec{
		Description: "Reminds the owners of boats of their rent.",
		Effects:     []latchwork.Effect{latchwork.ExternalSend},
		Determinism: latchwork.External,
	}, remind)
}

func remind(_ latchwork.Context, quarter Quarter) (Reminded, error) {
	if quarter.Quarter == "" {
		return Reminded{}, latchwork.Fail(latchwork.InvalidInput, "the quarter is missing")
	}
	seen := map[string]bool{}
	for _, owner := range quarter.Owners {
		switch {
		case owner.ID == "" || owner.Cents <= 0:
			return Reminded{}, latchwork.Fail(latchwork.InvalidInput, "owner %q owes %d cents", owner.ID, owner.Cents)
		case seen[owner.ID]:
			return Reminded{}, latchwork.Fail(latchwork.InvalidInput, "owner %s is listed twice", owner.ID)
		}
		seen[owner.ID] = true
	}

	began := time.Now()
	made := Reminded{Messages: []string{}, Letters: []string{}, Refused: []Refusal{}}
	var texted, posted []Owner
	for _, owner := range quarter.Owners {
		if owner.Phone != "" {
			texted = append(texted, owner)
		} else {
			posted = append(posted, owner)
		}
	}

	// A message that certainly did not go out is replaced by a letter, unless a person or the policy refused it.
	failed, err := send("Sms.Send", quarter, texted, func(owner Owner) any {
		return map[string]string{"to": owner.Phone, "text": text(quarter, owner)}
	}, &made.Messages)
	if err != nil {
		return Reminded{}, err
	}
	for _, owner := range texted {
		switch code, wrong := failed[owner.ID]; {
		case !wrong:
		case code == latchwork.PolicyDenied:
			made.Refused = append(made.Refused, Refusal{owner.ID, code})
		default:
			posted = append(posted, owner)
		}
	}

	failed, err = send("Letter.Send", quarter, posted, func(owner Owner) any {
		return map[string]string{"owner": owner.ID, "text": text(quarter, owner)}
	}, &made.Letters)
	if err != nil {
		return Reminded{}, err
	}
	for _, owner := range posted {
		if code, wrong := failed[owner.ID]; wrong {
			made.Refused = append(made.Refused, Refusal{owner.ID, code})
		}
	}
	made.Seconds = int(time.Since(began) / time.Second)
	return made, nil
}

// send makes one call for each owner, all at once. It returns the codes of the calls that failed.
func send(operator string, quarter Quarter, owners []Owner, args func(Owner) any, sent *[]string) (map[string]latchwork.Code, error) {
	requests := []latchwork.Request{}
	for _, owner := range owners {
		// An owner gets one reminder for a quarter through a channel. The array keeps the fields apart.
		key, err := json.Marshal([]string{"quay reminder", operator, quarter.Quarter, owner.ID})
		if err != nil {
			return nil, latchwork.Fail(latchwork.InvalidInput, "no key for %s: %w", owner.ID, err)
		}
		requests = append(requests, latchwork.Request{Operator: operator, Args: args(owner), ActionKey: string(key)})
	}
	answers, err := latchwork.CallAll(requests...)
	if err != nil {
		return nil, err
	}
	failed := map[string]latchwork.Code{}
	for i, answer := range answers {
		var ignored json.RawMessage
		var failure *latchwork.Failure
		err := answer.Into(&ignored)
		switch {
		case err == nil:
			*sent = append(*sent, owners[i].ID)
		case errors.As(err, &failure):
			slog.Warn("not sent", "operator", operator, "owner", owners[i].ID, "code", failure.Code)
			failed[owners[i].ID] = failure.Code
		default:
			return nil, err
		}
	}
	return failed, nil
}

func text(quarter Quarter, owner Owner) string {
	return fmt.Sprintf("Quay rent %s: %d.%02d are due.", quarter.Quarter, owner.Cents/100, owner.Cents%100)
}

// main is empty: the host calls the operators.
func main() {}
