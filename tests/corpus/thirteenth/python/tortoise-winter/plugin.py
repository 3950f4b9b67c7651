"""Keeps the hibernation book of a tortoise sanctuary: who went to bed, who woke up, and at which weight."""

import json
from dataclasses import dataclass
from datetime import date

from latchwork import Change, Failure, Output, happened, kv, tool


@dataclass
class Bedding:
    tortoise: str
    grams: int
    day: str
    fridge: int


@dataclass
class Waking:
    """`bed` is the entry that Tortoise.Bed returned."""

    bed: str
    grams: int
    day: str


@dataclass
class InBed:
    entry: str
    tortoise: str


@dataclass
class Awake:
    entry: str
    tortoise: str
    lost_grams: int
    nights: int


def checked(grams, day):
    if not 20 <= grams <= 300_000:
        raise Failure("INVALID_INPUT", f"{grams} g is no weight of a tortoise")
    try:
        return date.fromisoformat(day).isoformat()
    except ValueError:
        raise Failure("INVALID_INPUT", f"{day!r} is not a date") from None


def bedded(key, entry):
    result = InBed(key, entry["tortoise"])
    return Output(result, changes=[Change("bedding", key, "create", version=f"{entry['day']} {entry['grams']} g")])


def woken(key, entry):
    result = Awake(key, entry["tortoise"], entry["lost"], entry["nights"])
    return Output(result, changes=[Change("waking", key, "create", version=f"{entry['day']} {entry['grams']} g")])


@tool("Tortoise.Bed", output=InBed, effects=["internal_write"])
def bed(given: Bedding, context):
    """Notes that a tortoise was put to bed."""
    day = checked(given.grams, given.day)
    if not given.tortoise.strip() or len(given.tortoise) > 80:
        raise Failure("INVALID_INPUT", "the tortoise needs a name of at most 80 characters")
    entry = {"tortoise": given.tortoise.strip(), "grams": given.grams, "day": day, "fridge": given.fridge}
    kv.set(f"bed/{context.external_key}", json.dumps(entry))
    return bedded(context.external_key, entry)


@bed.reconcile
def find_bed(given: Bedding, key):
    raw = kv.get(f"bed/{key}")
    return "did_not_happen" if raw is None else happened(bedded(key, json.loads(raw)))


@bed.verify
def check_bed(change):
    raw = kv.get(f"bed/{change.resource_id}")
    if raw is None:
        return "the page of this tortoise is missing"
    entry = json.loads(raw)
    found = f"{entry['day']} {entry['grams']} g"
    return True if found == change.version else f"the book says {found}"


@tool("Tortoise.Wake", output=Awake, effects=["internal_write"])
def wake(given: Waking, context):
    """Notes that a tortoise woke up, and how much weight it lost."""
    day = checked(given.grams, given.day)
    raw = kv.get(f"bed/{given.bed}")
    if raw is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", "no such tortoise is in bed")
    before = json.loads(raw)
    nights = (date.fromisoformat(day) - date.fromisoformat(before["day"])).days
    if nights < 1:
        raise Failure("INVALID_INPUT", f"{before['tortoise']} went to bed on {before['day']}")
    entry = {"tortoise": before["tortoise"], "grams": given.grams, "day": day,
             "lost": before["grams"] - given.grams, "nights": nights}
    kv.set(f"wake/{context.external_key}", json.dumps(entry))
    return woken(context.external_key, entry)


@wake.reconcile
def find_wake(given: Waking, key):
    raw = kv.get(f"wake/{key}")
    return "did_not_happen" if raw is None else happened(woken(key, json.loads(raw)))
