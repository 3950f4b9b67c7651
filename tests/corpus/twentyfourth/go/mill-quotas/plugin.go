package main

import (
	"sort"
	"sync"

	"latchwork"
)

type Mill struct {
	Name     string `json:"name"`
	Capacity int64  `json:"capacity"`
}

type Harvest struct {
	Tonnes int64  `json:"tonnes"`
	Mills  []Mill `json:"mills"`
}

type Quota struct {
	Mill   string `json:"mill"`
	Tonnes int64  `json:"tonnes"`
}

type Quotas struct {
	Quotas []Quota `json:"quotas"`
}

func init() {
	latchwork.Step("Mills.Share", latchwork.Spec{
		Description: "Shares a harvest among mills by their capacity, in whole tonnes.",
		Input: latchwork.Schema(`{"type":"object","required":["tonnes","mills"],"additionalProperties":false,"properties":{
			"tonnes":{"type":"integer","minimum":0,"maximum":1000000},
			"mills":{"type":"array","minItems":1,"maxItems":300,"items":{"type":"object","required":["name","capacity"],"additionalProperties":false,"properties":{
				"name":{"type":"string","minLength":1,"maxLength":60},"capacity":{"type":"integer","minimum":1,"maximum":1000000}}}}}}`),
		Output: latchwork.Schema(`{"type":"object","required":["quotas"],"additionalProperties":false,"properties":{
			"quotas":{"type":"array","items":{"type":"object","required":["mill","tonnes"],"additionalProperties":false,"properties":{
				"mill":{"type":"string"},"tonnes":{"type":"integer"}}}}}}`),
	}, share)
}

// part is the share of one mill: whole tonnes, and the rest of the division.
type part struct {
	mill         string
	tonnes, rest int64
}

func share(_ latchwork.Context, harvest Harvest) (Quotas, error) {
	capacities, total := map[string]int64{}, int64(0)
	for _, mill := range harvest.Mills {
		if _, known := capacities[mill.Name]; known {
			return Quotas{}, latchwork.Fail(latchwork.InvalidInput, "mill %q is listed twice", mill.Name)
		}
		capacities[mill.Name] = mill.Capacity
		total += mill.Capacity
	}

	// Each mill has a place of its own, so the order in which the shares are worked out does not matter.
	parts := make([]part, len(harvest.Mills))
	var group sync.WaitGroup
	for i, mill := range harvest.Mills {
		group.Add(1)
		go func() {
			defer group.Done()
			product := harvest.Tonnes * mill.Capacity
			parts[i] = part{mill.Name, product / total, product % total}
		}()
	}
	group.Wait()

	left := harvest.Tonnes
	for _, one := range parts {
		left -= one.tonnes
	}
	// The tonnes that remain go to the largest rests. Mills with equal rests are served by name.
	sort.Slice(parts, func(i, k int) bool {
		if parts[i].rest != parts[k].rest {
			return parts[i].rest > parts[k].rest
		}
		return parts[i].mill < parts[k].mill
	})
	given := map[string]int64{}
	for i, one := range parts {
		given[one.mill] = one.tonnes
		if int64(i) < left {
			given[one.mill]++
		}
	}
	quotas := Quotas{Quotas: []Quota{}}
	for mill, tonnes := range given {
		quotas.Quotas = append(quotas.Quotas, Quota{mill, tonnes})
	}
	sort.Slice(quotas.Quotas, func(i, k int) bool { return quotas.Quotas[i].Mill < quotas.Quotas[k].Mill })
	return quotas, nil
}

func main() {}
