// Finds the delivery zone of a postal code. The zones are in the configuration of the plugin, so that the answer
// follows from the code and the configuration. The zones are searched by goroutines, and the longest prefix decides.
package main

import (
	"strings"
	"sync"

	"latchwork"
)

type Code struct {
	Postal string `json:"postal"`
}

type Zone struct {
	Zone   string `json:"zone"`
	Prefix string `json:"prefix"`
}

func init() {
	latchwork.Tool("Zone.Find", latchwork.Spec{
		Description: "Finds the delivery zone of a postal code.",
		Determinism: latchwork.Pure,
	}, find)
}

func find(_ *latchwork.Invocation, code Code) (Zone, error) {
	zones := map[string][]string{}
	set, err := latchwork.Config("zones", &zones)
	if err != nil {
		return Zone{}, err
	}
	if !set {
		return Zone{}, latchwork.Fail(latchwork.MissingRequiredContext, "the configuration has no zones")
	}
	found := make(chan Zone, len(zones))
	var all sync.WaitGroup
	for zone, prefixes := range zones {
		all.Go(func() {
			best := ""
			for _, prefix := range prefixes {
				if strings.HasPrefix(code.Postal, prefix) && len(prefix) > len(best) {
					best = prefix
				}
			}
			if best != "" {
				found <- Zone{zone, best}
			}
		})
	}
	all.Wait()
	close(found)
	var best Zone
	for one := range found {
		longer := len(one.Prefix) > len(best.Prefix)
		if longer || len(one.Prefix) == len(best.Prefix) && one.Zone < best.Zone {
			best = one
		}
	}
	if best.Zone == "" {
		return Zone{}, latchwork.Fail(latchwork.InvalidInput, "no zone has the code %s", code.Postal)
	}
	return best, nil
}

// main is empty: the host calls the operators.
func main() {}
