// Command household-reminders reminds the members of a club of the dues of a season.
package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"latchwork"
)

type Member struct {
	Number    int    `json:"number"`
	Household string `json:"household"`
	Name      string `json:"name"`
	Email     string `json:"email"`
	Cents     int    `json:"cents"`
}

type Season struct {
	Season  string   `json:"season"`
	Members []Member `json:"members"`
}

type Missed struct {
	Number int            `json:"number"`
	Code   latchwork.Code `json:"code"`
}

type Reminders struct {
	Sent   []int    `json:"sent"`
	Paid   []int    `json:"paid"`
	Missed []Missed `json:"missed"`
}

type mail struct {
	To      string `json:"to"`
	Subject string `json:"subject"`
	Body    string `json:"body"`
}

func init() {
	latchwork.Step("Dues.Remind", latchwork.Spec{
		Description: "Sends a reminder to each member with open dues, once in a season.",
		Effects:     []latchwork.Effect{latchwork.ExternalSend},
		Determinism: latchwork.External,
	}, remind)
}

func remind(_ latchwork.Context, in Season) (Reminders, error) {
	if in.Season == "" {
		return Reminders{}, latchwork.Fail(latchwork.InvalidInput, "the season has no name")
	}
	made := Reminders{Sent: []int{}, Paid: []int{}, Missed: []Missed{}}
	var open []Member
	var requests []latchwork.Request
	for _, member := range in.Members {
		if member.Email == "" || member.Household == "" {
			return Reminders{}, latchwork.Fail(latchwork.InvalidInput,
				"member %d has no address or household", member.Number)
		}
		if member.Cents <= 0 {
			made.Paid = append(made.Paid, member.Number)
			continue
		}
		open = append(open, member)
		requests = append(requests, latchwork.Request{
			Operator:  "Mail.Send",
			Args:      letter(in.Season, member),
			ActionKey: "dues/" + in.Season + "/" + member.Household,
		})
	}
	answers, err := latchwork.CallAll(requests...)
	if err != nil {
		return Reminders{}, err
	}
	for i, answer := range answers {
		var receipt json.RawMessage
		var failure *latchwork.Failure
		switch err := answer.Into(&receipt); {
		case err == nil:
			made.Sent = append(made.Sent, open[i].Number)
		case errors.As(err, &failure):
			made.Missed = append(made.Missed, Missed{open[i].Number, failure.Code})
		default:
			return Reminders{}, err
		}
	}
	return made, nil
}

// letter writes the reminder of a member.
func letter(season string, member Member) mail {
	return mail{
		To:      member.Email,
		Subject: "Dues of the season " + season,
		Body: fmt.Sprintf("Dear %s,\n\nyour dues of %d.%02d are still open.\n\nThe treasurer\n",
			member.Name, member.Cents/100, member.Cents%100),
	}
}

// main is empty: the host calls the operators.
func main() {}
