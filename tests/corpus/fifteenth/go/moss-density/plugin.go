package main

import (
	"math"
	"sync"

	"latchwork"
)

type Survey struct {
	Site  string   `json:"site"`
	Plots []string `json:"plots"`
}

// Reading is the cover of one square of a plot, in percent.
type Reading struct {
	Plot  string  `json:"plot"`
	Cover float64 `json:"cover"`
}

type Readings struct {
	Readings []Reading `json:"readings"`
}

type Density struct {
	Plot    string  `json:"plot"`
	Squares int     `json:"squares"`
	Cover   float64 `json:"cover"`
	Spread  float64 `json:"spread"`
}

type Report struct {
	Site  string    `json:"site"`
	Plots []Density `json:"plots"`
}

func init() {
	latchwork.Step("Moss.Density", latchwork.Spec{
		Description: "Computes the cover of moss for each plot of a site.",
		// The readings come from the field database.
		Determinism: latchwork.External,
	}, density)
}

func density(_ latchwork.Context, survey Survey) (Report, error) {
	if len(survey.Plots) == 0 {
		return Report{}, latchwork.Fail(latchwork.InvalidInput, "the survey has no plots")
	}
	found, err := latchwork.Call[Readings]("Moss.Readings", survey)
	if err != nil {
		return Report{}, err
	}

	// The plots are independent, so each one is computed by a goroutine of its own.
	report := Report{Site: survey.Site, Plots: []Density{}}
	var (
		wait sync.WaitGroup
		lock sync.Mutex
	)
	for _, plot := range survey.Plots {
		wait.Add(1)
		go func() {
			defer wait.Done()
			one := of(plot, found.Readings)
			if one.Squares == 0 {
				return
			}
			lock.Lock()
			defer lock.Unlock()
			report.Plots = append(report.Plots, one)
		}()
	}
	wait.Wait()
	return report, nil
}

// of returns mean and standard deviation of the readings of one plot.
func of(plot string, readings []Reading) Density {
	made := Density{Plot: plot}
	var sum, squares float64
	for _, reading := range readings {
		if reading.Plot == plot && reading.Cover >= 0 && reading.Cover <= 100 {
			made.Squares++
			sum += reading.Cover
			squares += reading.Cover * reading.Cover
		}
	}
	if made.Squares > 0 {
		n := float64(made.Squares)
		made.Cover = math.Round(sum/n*100) / 100
		made.Spread = math.Round(math.Sqrt(max(squares/n-sum/n*sum/n, 0))*100) / 100
	}
	return made
}

// main is empty: the host calls the operators.
func main() {}
