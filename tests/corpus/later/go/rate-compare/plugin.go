package main

import "latchwork"

type Comparison struct {
	Banks  []string `json:"banks"`
	Months int      `json:"months"`
}

type Question struct {
	Bank   string `json:"bank"`
	Months int    `json:"months"`
}

type Rate struct {
	Percent float64 `json:"percent"`
}

type Row struct {
	Bank    string   `json:"bank"`
	Percent *float64 `json:"percent"`
	Why     string   `json:"why,omitempty"`
}

type Table struct {
	Rows []Row `json:"rows"`
}

func init() {
	latchwork.Step("Rate.Compare", latchwork.Spec{
		Description: "Compares the interest rates of banks.",
		Determinism: latchwork.External,
	}, compare)
}

func compare(_ latchwork.Context, comparison Comparison) (Table, error) {
	if len(comparison.Banks) == 0 || len(comparison.Banks) > 20 {
		return Table{}, latchwork.Fail(latchwork.InvalidInput, "%d banks: 1 to 20 are possible", len(comparison.Banks))
	}
	var requests []latchwork.Request
	for _, bank := range comparison.Banks {
		requests = append(requests, latchwork.Request{Operator: "Rate.Read", Args: Question{bank, comparison.Months}})
	}
	answers, err := latchwork.CallAll(requests...)
	if err != nil {
		return Table{}, err
	}
	// A goroutine for each answer writes the row of its own bank. The channel has room for all of them.
	rows := make([]Row, len(answers))
	done := make(chan struct{}, len(answers))
	for i, answer := range answers {
		go func() {
			defer func() { done <- struct{}{} }()
			var rate Rate
			rows[i].Bank = comparison.Banks[i]
			if err := answer.Into(&rate); err != nil {
				rows[i].Why = err.Error()
				return
			}
			rows[i].Percent = &rate.Percent
		}()
	}
	for range answers {
		<-done
	}
	return Table{rows}, nil
}

// main is empty: the host calls the operators.
func main() {}
