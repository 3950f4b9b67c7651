package main

import "latchwork"

type Setting struct {
	Relay string `json:"relay"`
	On    bool   `json:"on"`
}

type Stored struct {
	Relay string `json:"relay"`
	State string `json:"state"`
}

func init() {
	latchwork.Tool("Relay.Configure", latchwork.Spec{
		Description: "Stores the wanted state of a relay under the key of the call.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, configure).Verify(check)
}

func configure(call *latchwork.Invocation, setting Setting) (Stored, error) {
	if setting.Relay == "" {
		return Stored{}, latchwork.Fail(latchwork.InvalidInput, "relay is missing")
	}
	state := setting.Relay + ":off"
	if setting.On {
		state = setting.Relay + ":on"
	}
	if err := latchwork.KVSet(call.ExternalKey, []byte(state)); err != nil {
		return Stored{}, err
	}
	call.Changed(latchwork.Change{ResourceType: "relay", ResourceID: call.ExternalKey, Operation: "set", Version: state})
	return Stored{setting.Relay, state}, nil
}

func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	state, found, err := latchwork.KVGet(change.ResourceID)
	if err != nil || !found {
		return "no state is stored for the relay", nil
	}
	if string(state) != change.Version {
		return "the relay is set to " + string(state), nil
	}
	return "", nil
}

func main() {}
