// Package main stores patent applications with the time at which they came in.
package main

import (
	"encoding/json"
	"errors"
	"time"

	"latchwork"
)

type Application struct {
	Applicant string   `json:"applicant"`
	Title     string   `json:"title"`
	Claims    []string `json:"claims"`
}

type Filed struct {
	Number string    `json:"number"`
	At     time.Time `json:"at"`
}

func init() {
	latchwork.Tool("Patent.File", latchwork.Spec{
		Description: "Files a patent application.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, file)
}

func file(call *latchwork.Invocation, application Application) (Filed, error) {
	if application.Applicant == "" || application.Title == "" {
		return Filed{}, latchwork.Fail(latchwork.InvalidInput, "applicant and title are needed")
	}
	if len(application.Claims) == 0 {
		return Filed{}, latchwork.Fail(latchwork.InvalidInput, "an application has at least one claim")
	}
	at := time.Now().UTC()
	entry, err := json.Marshal(map[string]any{"application": application, "at": at})
	if err != nil {
		return Filed{}, err
	}
	if len(entry) > 60_000 {
		return Filed{}, latchwork.Fail(latchwork.InvalidInput, "the application is too long for the register")
	}
	if err := latchwork.KVSet(call.ExternalKey, entry); err != nil {
		var failure *latchwork.Failure
		if errors.As(err, &failure) && failure.Code == latchwork.DependencyUnavailable {
			// A locked register opens again after a moment.
			return Filed{}, latchwork.Fail(latchwork.TransientDBLock, "the register is locked: %w", err)
		}
		return Filed{}, err
	}
	call.Changed(latchwork.Change{ResourceType: "application", ResourceID: call.ExternalKey, Operation: "create"})
	return Filed{call.ExternalKey, at}, nil
}

func main() {}
