"""Files the visits of a veterinary practice."""

import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, kv, tool


@dataclass
class Visit:
    animal: str
    day: str
    reason: str
    notes: str


@dataclass
class Filed:
    animal: str
    notes_entry: str


@dataclass
class Animal:
    animal: str


@dataclass
class Latest:
    animal: str
    day: str
    reason: str
    notes_entry: str


def card_of(animal):
    return f"card/{animal}"


@tool("Visit.File", output=Filed, effects=["internal_write"])
def file_visit(visit: Visit, context):
    """Files a visit: the card of the animal, and the notes of the veterinarian."""
    if not visit.animal.strip() or len(visit.animal) > 40:
        raise Failure("INVALID_INPUT", "the tag of an animal has 1 to 40 characters")
    if len(visit.reason) > 200:
        raise Failure("INVALID_INPUT", "the reason of a visit has at most 200 characters")
    if not visit.notes.strip():
        raise Failure("INVALID_INPUT", f"the visit of {visit.animal} has no notes")
    notes = f"notes/{context.external_key}"
    card = {"animal": visit.animal, "day": visit.day[:10], "reason": visit.reason, "notes_entry": notes}
    kv.set(card_of(visit.animal), json.dumps(card))
    kv.set(notes, visit.notes)
    return Output(
        Filed(visit.animal, notes),
        receipt={"card": card_of(visit.animal), "notes": notes},
        changes=[Change("card", visit.animal, "update"), Change("notes", notes, "create")],
    )


@tool("Visit.Latest", output=Latest, effects=["read_only"])
def latest(wanted: Animal, context):
    """Reads the card of an animal with its latest visit."""
    if not wanted.animal.strip() or len(wanted.animal) > 40:
        raise Failure("INVALID_INPUT", "the tag of an animal has 1 to 40 characters")
    card = kv.get(card_of(wanted.animal))
    if card is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"the practice has no card of {wanted.animal}")
    return Latest(**json.loads(card))
