"""Enters kite flyers for a festival and draws the field and the launch order of each entry."""

import json
import random
from dataclasses import dataclass

from latchwork import Change, Failure, Output, kv, log, tool

FIELDS = ["north meadow", "dune", "beach", "old airfield"]
CLASSES = ("single line", "dual line", "fighter", "giant")


@dataclass
class Entry:
    flyer: str
    kite_class: str
    kites: int = 1


@dataclass
class Drawn:
    number: str
    field: str
    order: int


def load(key):
    """Returns the entry with this key, or None."""
    try:
        return json.loads(kv.get(key))
    except Exception:
        return None


def answer(key, entry):
    result = Drawn(key, entry["field"], entry["order"])
    return Output(result, receipt={"entry": key}, changes=[Change("entry", key, "create", version=str(entry["order"]))])


def check(entry):
    if not entry.flyer.strip() or len(entry.flyer) > 120:
        raise Failure("INVALID_INPUT", "the name of the flyer must have 1 to 120 characters")
    if entry.kite_class not in CLASSES:
        raise Failure("INVALID_INPUT", f"the class must be one of {', '.join(CLASSES)}")
    if not 1 <= entry.kites <= 12:
        raise Failure("INVALID_INPUT", "an entry has 1 to 12 kites")


# Entries stay for the whole season, so the key of a call may be repeated for a month.
@tool("Kite.Enter", output=Drawn, effects=["internal_write"], idempotent_by_key_seconds=30 * 86_400)
def enter(entry: Entry, context):
    """Enters a flyer for the festival."""
    check(entry)
    key = context.external_key
    known = load(key)
    if known is not None:
        log.info("%s is entered already", key)
        return answer(key, known)
    fields = FIELDS[2:] if entry.kite_class == "giant" else FIELDS
    drawn = {
        "flyer": entry.flyer.strip(),
        "class": entry.kite_class,
        "kites": entry.kites,
        "field": random.choice(fields),
        "order": random.randint(1, 999),
    }
    kv.set(key, json.dumps(drawn))
    return answer(key, drawn)


@tool("Kite.Show")
def show(number: str, context):
    """Shows an entry by its number."""
    raw = kv.get(number)
    if raw is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", "there is no such entry")
    return json.loads(raw)
