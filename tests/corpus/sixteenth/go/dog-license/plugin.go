// Command dog-license keeps the dog licenses of a town.
package main

import (
	"encoding/json"
	"strings"

	"latchwork"
)

type Dog struct {
	Name  string `json:"name"`
	Owner string `json:"owner"`
}

type License struct {
	License string `json:"license"`
}

type Surrendered struct {
	Dog Dog `json:"dog"`
}

func init() {
	latchwork.Tool("License.Grant", latchwork.Spec{
		Description: "Grants a license for a dog.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, grant).Reconcile(find).Verify(check)
	latchwork.Tool("License.Surrender", latchwork.Spec{
		Description: "Ends a license for good.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, surrender).Verify(check)
}

func grant(call *latchwork.Invocation, dog Dog) (License, error) {
	if strings.TrimSpace(dog.Name) == "" || strings.TrimSpace(dog.Owner) == "" {
		return License{}, latchwork.Fail(latchwork.InvalidInput, "the dog or its owner has no name")
	}
	if len(dog.Name)+len(dog.Owner) > 1000 {
		return License{}, latchwork.Fail(latchwork.InvalidInput, "the names have more than 1000 bytes")
	}
	value, err := json.Marshal(dog)
	if err != nil {
		return License{}, err
	}
	if err := latchwork.KVSet("license/"+call.ExternalKey, value); err != nil {
		return License{}, err
	}
	return granted(call), nil
}

// find is called after a crash and finds out whether the license was granted.
func find(call *latchwork.Invocation, _ Dog) (latchwork.Verdict, error) {
	state, _, err := stateOf(call.ExternalKey)
	switch {
	case err != nil:
		return latchwork.Unknown, err
	case state == "held":
		return latchwork.Happened(granted(call)), nil
	case state == "surrendered":
		return latchwork.Unknown, nil
	}
	return latchwork.DidNotHappen, nil
}

func granted(call *latchwork.Invocation) License {
	call.Changed(latchwork.Change{
		ResourceType: "license", ResourceID: call.ExternalKey, Operation: "create", Version: "held",
	})
	return License{call.ExternalKey}
}

// surrender notes the end of the license first, then removes the license.
func surrender(call *latchwork.Invocation, in License) (Surrendered, error) {
	state, value, err := stateOf(in.License)
	if err != nil {
		return Surrendered{}, err
	}
	if state != "held" {
		return Surrendered{}, latchwork.Fail(latchwork.MissingRequiredContext, "license %s is %s", in.License, state)
	}
	var dog Dog
	if err := json.Unmarshal(value, &dog); err != nil {
		return Surrendered{}, latchwork.Fail(latchwork.PolicyDenied, "license %s cannot be read: %w", in.License, err)
	}
	if err := latchwork.KVSet("surrendered/"+in.License, value); err != nil {
		return Surrendered{}, err
	}
	gone, err := latchwork.KVDelete("license/" + in.License)
	if err != nil || !gone {
		failure := latchwork.Fail(latchwork.DependencyUnavailable, "license %s was not removed", in.License)
		failure.Applied = latchwork.AppliedUnknown
		return Surrendered{}, failure
	}
	call.Changed(latchwork.Change{
		ResourceType: "license", ResourceID: in.License, Operation: "delete", Version: "surrendered",
	})
	return Surrendered{dog}, nil
}

// check is called when a job is resumed. It returns "" if the license has the state that the change gave it.
func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	state, _, err := stateOf(change.ResourceID)
	if err != nil || state == change.Version {
		return "", err
	}
	return "the license is " + state, nil
}

// stateOf returns the state of a license: "held", "surrendered" or "missing". A held license has its entry.
func stateOf(license string) (state string, value []byte, err error) {
	value, found, err := latchwork.KVGet("license/" + license)
	if err != nil || found {
		return "held", value, err
	}
	_, found, err = latchwork.KVGet("surrendered/" + license)
	if err != nil || found {
		return "surrendered", nil, err
	}
	return "missing", nil, nil
}

// main is empty: the host calls the operators.
func main() {}
