"""Intake of a kennel: each animal that arrives gets an entry in the register."""

import json
from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import Change, Failure, Output, kv, tool

KINDS = ("dog", "cat", "rabbit")
# Milliseconds until the register is asked again.
BUSY_MS = 2_000


@dataclass
class Animal:
    kind: str
    name: str
    weight_grams: int
    remarks: str = ""


@dataclass
class Entry:
    entry: str
    pen: str
    arrived_at: str


@dataclass
class Number:
    entry: str


def place(entry):
    return f"intake/{entry}"


def pen(animal):
    """Large dogs live in the yard, and all other animals inside."""
    if animal.kind == "dog":
        return "yard" if animal.weight_grams >= 25_000 else "hall"
    return f"{animal.kind} room"


def checked(animal):
    if animal.kind not in KINDS:
        raise Failure("INVALID_INPUT", f"the kennel takes no {animal.kind}")
    if not animal.name.strip():
        raise Failure("INVALID_INPUT", "the animal has no name")
    if not 50 <= animal.weight_grams <= 120_000:
        raise Failure("INVALID_INPUT", f"weight_grams: {animal.weight_grams} is no weight of a {animal.kind}")
    return animal


def write(entry, record):
    """Writes an entry. A register that does not answer is busy: the host tries again soon."""
    try:
        kv.set(place(entry), json.dumps(record))
    except Failure as failure:
        if failure.code != "DEPENDENCY_UNAVAILABLE":
            raise
        raise Failure("TRANSIENT_DB_LOCK", "the register is busy", retry_after_ms=BUSY_MS) from failure


@tool("Kennel.Admit", output=Entry, effects=["internal_write"])
def admit(given: Animal, context):
    """Admits an animal, and chooses its pen."""
    animal = checked(given)
    arrived = datetime.now(timezone.utc).isoformat(timespec="seconds")
    record = {
        "kind": animal.kind,
        "name": animal.name.strip()[:80],
        "remarks": animal.remarks[:1000],
        "pen": pen(animal),
        "arrived_at": arrived,
    }
    entry = context.external_key
    write(entry, record)
    return Output(Entry(entry, record["pen"], arrived), changes=[Change("intake", entry, "create", version=arrived)])


@admit.compensate
def strike(given: Animal, result: Entry, key):
    """Strikes an entry that was made by mistake."""
    raw = kv.get(place(key))
    if raw is None or json.loads(raw)["arrived_at"] != result.arrived_at:
        raise Failure("POLICY_DENIED", "the register has another entry of this animal")
    if not kv.delete(place(key)):
        raise Failure("POLICY_DENIED", "the entry was struck already")
    return Output(None, changes=[Change("intake", key, "delete")])


@tool("Kennel.Show", output=Entry, effects=["read_only"])
def show(given: Number, context):
    """Shows an entry of the register."""
    raw = kv.get(place(given.entry))
    if raw is None:
        raise Failure("INVALID_INPUT", f"there is no entry {given.entry}")
    record = json.loads(raw)
    return Entry(given.entry, record["pen"], record["arrived_at"])
