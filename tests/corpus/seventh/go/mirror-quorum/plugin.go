package main

import (
	"log/slog"
	"math/rand/v2"
	"sort"
	"time"

	"latchwork"
)

type Package struct {
	Name    string   `json:"name"`
	Mirrors []string `json:"mirrors"`
}

type Seen struct {
	SHA256 string `json:"sha256"`
}

type Quorum struct {
	SHA256 string   `json:"sha256"`
	Agree  []string `json:"agree"`
	Silent []string `json:"silent"`
	TookMs int64    `json:"took_ms"`
	Run    string   `json:"run"`
}

const rounds = 3

func init() {
	latchwork.Step("Mirror.Quorum", latchwork.Spec{
		Description: "Finds the digest of a package that most mirrors report.",
		Determinism: latchwork.External,
	}, quorum)
}

func quorum(_ latchwork.Context, wanted Package) (Quorum, error) {
	if len(wanted.Mirrors) == 0 || len(wanted.Mirrors) > 9 {
		return Quorum{}, latchwork.Fail(latchwork.InvalidInput, "1 to 9 mirrors are needed, not %d", len(wanted.Mirrors))
	}
	began := time.Now()
	silent := append([]string(nil), wanted.Mirrors...)
	votes := map[string][]string{}
	for try := 0; try < rounds && len(silent) > 0; try++ {
		if try > 0 {
			time.Sleep(time.Duration(500+rand.IntN(500)) * time.Millisecond)
		}
		requests := make([]latchwork.Request, len(silent))
		for i, mirror := range silent {
			requests[i] = latchwork.Request{Operator: "Mirror.Digest", Args: map[string]string{"mirror": mirror, "package": wanted.Name}}
		}
		answers, err := latchwork.CallAll(requests...)
		if err != nil {
			return Quorum{}, err
		}
		var left []string
		for i, answer := range answers {
			var seen Seen
			if err := answer.Into(&seen); err != nil {
				slog.Warn("no digest", "mirror", silent[i], "why", err.Error())
				left = append(left, silent[i])
				continue
			}
			votes[seen.SHA256] = append(votes[seen.SHA256], silent[i])
		}
		silent = left
	}
	best := ""
	for digest, mirrors := range votes {
		if n := len(votes[best]); len(mirrors) > n || len(mirrors) == n && digest < best {
			best = digest
		}
	}
	agree := append([]string{}, votes[best]...)
	sort.Strings(agree)
	if len(agree)*2 <= len(wanted.Mirrors) {
		return Quorum{}, latchwork.Fail(latchwork.DependencyUnavailable, "only %d of %d mirrors agree on %s", len(agree), len(wanted.Mirrors), wanted.Name)
	}
	if err := latchwork.Emit("quorum-found", map[string]any{"package": wanted.Name, "agree": len(agree)}); err != nil {
		return Quorum{}, err
	}
	return Quorum{best, agree, append([]string{}, silent...), time.Since(began).Milliseconds(), latchwork.UUID()}, nil
}

// main is empty: the host calls the operators.
func main() {}
