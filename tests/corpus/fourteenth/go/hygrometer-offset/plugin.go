// Command hygrometer-offset corrects the readings of humidity probes in a wine store.
package main

import (
	"encoding/json"
	"strings"

	"latchwork"
)

// Calibration is stored for each probe. Both offsets are in tenths of a percent.
type Calibration struct {
	Serial string `json:"serial"`
	Low    int    `json:"low"`
	High   int    `json:"high"`
}

type Stored struct {
	Serial string `json:"serial"`
}

// Reading is in tenths of a percent.
type Reading struct {
	Serial string `json:"serial"`
	Tenths int    `json:"tenths"`
}

type Corrected struct {
	Serial string `json:"serial"`
	Tenths int    `json:"tenths"`
	Alarm  bool   `json:"alarm"`
}

func init() {
	latchwork.Tool("Hygrometer.Calibrate", latchwork.Spec{
		Description: "Stores the calibration of a probe.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
	}, calibrate)
	// The correction is plain arithmetic and changes nothing.
	latchwork.Tool("Hygrometer.Correct", latchwork.Spec{
		Description: "Corrects a reading of a probe.",
		Determinism: latchwork.Pure,
	}, correct)
}

func name(serial string) (string, error) {
	serial = strings.ToUpper(strings.TrimSpace(serial))
	if serial == "" || len(serial) > 40 {
		return "", latchwork.Fail(latchwork.InvalidInput, "the serial number has 1 to 40 bytes")
	}
	return "probe/" + serial, nil
}

func calibrate(call *latchwork.Invocation, calibration Calibration) (Stored, error) {
	key, err := name(calibration.Serial)
	if err != nil {
		return Stored{}, err
	}
	if min(calibration.Low, calibration.High) < -100 || max(calibration.Low, calibration.High) > 100 {
		return Stored{}, latchwork.Fail(latchwork.InvalidInput, "an offset of more than 10 percent is a broken probe")
	}
	value, err := json.Marshal(calibration)
	if err != nil {
		return Stored{}, latchwork.Fail(latchwork.InvalidInput, "the calibration cannot be stored: %w", err)
	}
	if err := latchwork.KVSet(key, value); err != nil {
		return Stored{}, err
	}
	call.Changed(latchwork.Change{ResourceType: "calibration", ResourceID: key, Operation: "set"})
	return Stored{calibration.Serial}, nil
}

func correct(_ *latchwork.Invocation, reading Reading) (Corrected, error) {
	key, err := name(reading.Serial)
	if err != nil {
		return Corrected{}, err
	}
	if reading.Tenths < 0 || reading.Tenths > 1000 {
		return Corrected{}, latchwork.Fail(latchwork.InvalidInput, "a reading is between 0 and 1000 tenths")
	}
	value, found, err := latchwork.KVGet(key)
	if err != nil {
		return Corrected{}, err
	}
	var calibration Calibration
	if found {
		if err := json.Unmarshal(value, &calibration); err != nil {
			return Corrected{}, latchwork.Fail(latchwork.MissingRequiredContext, "the calibration cannot be read: %w", err)
		}
	}
	// The offset changes evenly from the low to the high end of the scale.
	offset := calibration.Low + (calibration.High-calibration.Low)*reading.Tenths/1000
	tenths := min(max(reading.Tenths+offset, 0), 1000)
	return Corrected{reading.Serial, tenths, tenths < 550 || tenths > 800}, nil
}

// main is empty: the host calls the operators.
func main() {}
