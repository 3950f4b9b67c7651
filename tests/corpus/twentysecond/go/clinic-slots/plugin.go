package main

import (
	"encoding/json"
	"time"

	"latchwork"
)

// Appointment is an appointment at the eye clinic.
type Appointment struct {
	Doctor  string `json:"doctor"`
	Patient string `json:"patient"`
	Day     string `json:"day"`
	Time    string `json:"time"`
}

// Slot names the entry of an appointment.
type Slot struct {
	Slot string `json:"slot"`
}

type Released struct {
	Slot   string `json:"slot"`
	Doctor string `json:"doctor"`
}

func init() {
	latchwork.Tool("ClinicSlot.Book", latchwork.Spec{
		Description:     "Books an appointment for a patient.",
		Effects:         []latchwork.Effect{latchwork.InternalWrite},
		IdempotentByKey: 48 * time.Hour,
		Input: latchwork.Schema(`{
  "type": "object", "additionalProperties": false, "required": ["doctor", "patient", "day", "time"],
  "properties": {
    "doctor": {"type": "string", "minLength": 1, "maxLength": 60},
    "patient": {"type": "string", "minLength": 1, "maxLength": 80},
    "day": {"type": "string", "pattern": "^20[0-9]{2}-[0-9]{2}-[0-9]{2}$"},
    "time": {"type": "string", "pattern": "^[0-2][0-9]:[0-5][0-9]$"}}}`),
	}, book).Verify(check)
	latchwork.Tool("ClinicSlot.Release", latchwork.Spec{
		Description: "Gives the appointment of a patient back to the clinic.",
		Effects:     []latchwork.Effect{latchwork.InternalWrite},
		Input: latchwork.Schema(`{
  "type": "object", "additionalProperties": false, "required": ["slot"],
  "properties": {"slot": {"type": "string", "pattern": "^slot/[A-Za-z0-9_:/~-]{1,128}$"}}}`),
	}, release).Verify(check)
}

// book writes the appointment under the key of its call, so a repeated call writes the same entry.
func book(call *latchwork.Invocation, appointment Appointment) (Slot, error) {
	if _, err := time.Parse("2006-01-02 15:04", appointment.Day+" "+appointment.Time); err != nil {
		return Slot{}, latchwork.Fail(latchwork.InvalidInput, "%s %s is no time", appointment.Day, appointment.Time)
	}
	text, err := json.Marshal(appointment)
	if err != nil {
		return Slot{}, latchwork.Fail(latchwork.InvalidInput, "the appointment is not JSON: %w", err)
	}
	id := "slot/" + call.ExternalKey
	if err := latchwork.KVSet(id, text); err != nil {
		return Slot{}, err
	}
	call.Changed(latchwork.Change{ResourceType: "clinic-slot", ResourceID: id, Operation: "create", Version: string(text)})
	return Slot{id}, nil
}

// release removes the entry, so that the day list of the doctor no longer shows it.
func release(call *latchwork.Invocation, slot Slot) (Released, error) {
	text, found, err := latchwork.KVGet(slot.Slot)
	if err != nil {
		return Released{}, err
	}
	if !found {
		return Released{}, latchwork.Fail(latchwork.InvalidInput, "there is no appointment %s", slot.Slot)
	}
	var appointment Appointment
	if err := json.Unmarshal(text, &appointment); err != nil {
		return Released{}, latchwork.Fail(latchwork.InvalidInput, "%s is no appointment", slot.Slot)
	}
	if _, err := latchwork.KVDelete(slot.Slot); err != nil {
		return Released{}, err
	}
	call.Changed(latchwork.Change{ResourceType: "clinic-slot", ResourceID: slot.Slot, Operation: "delete"})
	return Released{slot.Slot, appointment.Doctor}, nil
}

// check serves both operators, because both of them change the same entries.
func check(_ *latchwork.Invocation, change latchwork.Change) (string, error) {
	text, found, err := latchwork.KVGet(change.ResourceID)
	switch {
	case err != nil:
		return "", err
	case change.Operation == "delete" && found:
		return "the appointment was booked again", nil
	case change.Operation == "delete":
		return "", nil
	case !found:
		return "the appointment was released", nil
	case string(text) != change.Version:
		return "the appointment was moved", nil
	}
	return "", nil
}

func main() {}
