package main

import (
	"time"

	"latchwork"
)

// patience is the time after which no further page is fetched.
const patience = 3 * time.Second

type Site struct {
	URLs []string `json:"urls"`
}

type Page struct {
	URL string `json:"url"`
}

type Fetched struct {
	Status int    `json:"status"`
	Text   string `json:"text"`
}

type Report struct {
	Fetched int  `json:"fetched"`
	Bytes   int  `json:"bytes"`
	Whole   bool `json:"whole"`
}

func init() {
	latchwork.Step("Site.Crawl", latchwork.Spec{
		Description: "Fetches the pages of a site within a short time.",
		Determinism: latchwork.External,
	}, crawl)
}

func crawl(_ latchwork.Context, site Site) (Report, error) {
	start := time.Now()
	report := Report{Whole: true}
	for _, url := range site.URLs {
		if time.Since(start) > patience {
			report.Whole = false
			break
		}
		page, err := latchwork.Call[Fetched]("Web.Fetch", Page{url})
		if err != nil {
			return Report{}, err
		}
		report.Fetched++
		report.Bytes += len(page.Text)
	}
	return report, nil
}

// main is empty: the host calls the operators.
func main() {}
