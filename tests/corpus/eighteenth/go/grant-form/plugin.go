// Command grant-form checks the form of an application for a project grant.
package main

import (
	"strings"
	"unicode/utf8"

	"latchwork"
)

type Form struct {
	Title     string `json:"title"`
	Summary   string `json:"summary"`
	Budget    string `json:"budget_note"`
	Contact   string `json:"contact"`
	AskedEuro int    `json:"asked_euro"`
}

type Accepted struct {
	Title     string `json:"title"`
	AskedEuro int    `json:"asked_euro"`
	Class     string `json:"class"`
	Words     int    `json:"words"`
}

// limits has the most characters of each field.
var limits = map[string]int{
	"title":       80,
	"summary":     1200,
	"budget note": 400,
	"contact":     60,
}

// classes has the upper bound of each class, in euro.
var classes = []struct {
	name string
	most int
}{{"small", 5_000}, {"medium", 25_000}, {"large", 100_000}}

func init() {
	latchwork.Step("Grant.Check", latchwork.Spec{
		Description: "Checks the form of an application and finds its class.",
	}, check)
}

func check(_ latchwork.Context, form Form) (Accepted, error) {
	form.Title = strings.TrimSpace(form.Title)
	fields := map[string]string{
		"title":       form.Title,
		"summary":     strings.TrimSpace(form.Summary),
		"budget note": strings.TrimSpace(form.Budget),
		"contact":     strings.TrimSpace(form.Contact),
	}
	if form.Title == "" {
		return Accepted{}, latchwork.Fail(latchwork.InvalidInput, "the title is empty")
	}
	for field, most := range limits {
		if size := utf8.RuneCountInString(fields[field]); size > most {
			return Accepted{}, latchwork.Fail(latchwork.InvalidInput,
				"the %s has %d characters, and only %d are allowed", field, size, most)
		}
	}
	if !strings.Contains(fields["contact"], "@") {
		return Accepted{}, latchwork.Fail(latchwork.InvalidInput, "the contact is no mail address")
	}
	if form.AskedEuro <= 0 {
		return Accepted{}, latchwork.Fail(latchwork.InvalidInput, "the form asks for no money")
	}
	for _, class := range classes {
		if form.AskedEuro <= class.most {
			words := len(strings.Fields(fields["summary"]))
			return Accepted{form.Title, form.AskedEuro, class.name, words}, nil
		}
	}
	return Accepted{}, latchwork.Fail(latchwork.PolicyDenied, "%d euro is above the largest class", form.AskedEuro)
}

// main is empty: the host calls the operators.
func main() {}
