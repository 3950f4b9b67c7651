// Command dues-reminders reminds the members of a sailing club of their open dues.
package main

import (
	"errors"
	"fmt"
	"log/slog"

	"latchwork"
)

type Due struct {
	Member string `json:"member"`
	Mail   string `json:"mail"`
	For    string `json:"for"`
	Cents  int64  `json:"cents"`
}

type Round struct {
	Month string `json:"month"`
	Dues  []Due  `json:"dues"`
}

type Mail struct {
	To      string `json:"to"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
}

type Missed struct {
	Member string `json:"member"`
	For    string `json:"for"`
	Reason string `json:"reason"`
}

type Report struct {
	Sent   int      `json:"sent"`
	Missed []Missed `json:"missed"`
}

func init() {
	latchwork.Step("Dues.Remind", latchwork.Spec{
		Description: "Sends a reminder for each open due of a month, at most once.",
		Effects:     []latchwork.Effect{latchwork.ExternalSend},
		Determinism: latchwork.External,
	}, remind)
}

func letter(month string, due Due) Mail {
	return Mail{
		To:      due.Mail,
		Subject: fmt.Sprintf("Open due: %s, %s", due.For, month),
		Text: fmt.Sprintf("Dear member %s,\n\nplease pay %d.%02d euro for %s.\n\nThe treasurer\n",
			due.Member, due.Cents/100, due.Cents%100, due.For),
	}
}

func remind(_ latchwork.Context, round Round) (Report, error) {
	if round.Month == "" {
		return Report{}, latchwork.Fail(latchwork.InvalidInput, "the month is missing")
	}
	if len(round.Dues) > 500 {
		return Report{}, latchwork.Fail(latchwork.InvalidInput, "%d dues are too many for one round", len(round.Dues))
	}
	requests := make([]latchwork.Request, 0, len(round.Dues))
	for i, due := range round.Dues {
		if due.Member == "" || due.Mail == "" || due.Cents <= 0 {
			return Report{}, latchwork.Fail(latchwork.InvalidInput, "due %d has no member, address or amount", i+1)
		}
		requests = append(requests, latchwork.Request{
			Operator: "Mail.Send",
			Args:     letter(round.Month, due),
			// A second round in the same month repeats no reminder.
			ActionKey: "dues/" + round.Month + "/" + due.Member,
		})
	}
	answers, err := latchwork.CallAll(requests...)
	if err != nil {
		return Report{}, err
	}
	report := Report{Missed: []Missed{}}
	for i, answer := range answers {
		var sent struct{}
		err := answer.Into(&sent)
		var failure *latchwork.Failure
		switch {
		case err == nil:
			report.Sent++
		case errors.As(err, &failure):
			due := round.Dues[i]
			report.Missed = append(report.Missed, Missed{due.Member, due.For, string(failure.Code)})
		default:
			return Report{}, err
		}
	}
	slog.Info("reminded", "sent", report.Sent, "missed", len(report.Missed))
	return report, nil
}

// main is empty: the host calls the operators.
func main() {}
