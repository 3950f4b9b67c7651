package main

import (
	"strconv"

	"latchwork"
)

type Renewal struct {
	Member string `json:"member"`
	Year   int    `json:"year"`
}

type Renewed struct {
	Entry string `json:"entry"`
}

func init() {
	latchwork.Tool("Membership.Renew", latchwork.Spec{
		Description:     "Renews a membership for a year.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 86400e9,
	}, renew)
}

func renew(call *latchwork.Invocation, renewal Renewal) (Renewed, error) {
	if renewal.Member == "" || renewal.Year < 2000 || renewal.Year > 2100 {
		return Renewed{}, latchwork.Fail(latchwork.InvalidInput, "a member and a year are required")
	}
	_, booked, err := latchwork.KVGet(call.ExternalKey)
	if err != nil {
		return Renewed{}, err
	}
	if booked {
		return Renewed{}, latchwork.Fail(latchwork.PolicyDenied, "renewal %s is booked already", call.ExternalKey)
	}
	text := renewal.Member + " " + strconv.Itoa(renewal.Year)
	if err := latchwork.KVSet(call.ExternalKey, []byte(text)); err != nil {
		return Renewed{}, err
	}
	return Renewed{text}, nil
}

func main() {}
