"""Sightings of sea animals by volunteers on a beach. Each sighting has a code word for the volunteer."""

import json
import random
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Literal

from latchwork import Change, Failure, Output, kv, tool

WEEK = 7 * 24 * 60 * 60
FIRST = ("amber", "briny", "coral", "dusky", "ebbing", "foamy", "glassy", "hazy")
SECOND = ("anchor", "buoy", "cove", "dune", "eddy", "fjord", "gull", "harbour")


@dataclass
class Sighting:
    species: Literal["harbour seal", "grey seal", "porpoise", "other"]
    count: int
    beach: str
    note: str = ""


@dataclass
class Receipt:
    sighting: str
    code_word: str
    reported_at: str


def entry_of(key):
    # A failed read raises, and nothing is written: it does not prove that the entry is missing.
    value = kv.get(key)
    return None if value is None else json.loads(value)


def described(sighting):
    return {"species": sighting.species, "count": sighting.count, "beach": sighting.beach, "note": sighting.note}


def code_word():
    return f"{random.choice(FIRST)} {random.choice(SECOND)} {random.randrange(100, 1000)}"


def answer(key, entry):
    result = Receipt(key, entry["code_word"], entry["reported_at"])
    receipt = {"sighting": key, "code_word": entry["code_word"]}
    change = Change("sighting", key, "create", version=entry["reported_at"])
    return Output(result, receipt=receipt, changes=[change])


@tool("Sighting.Report", output=Receipt, effects=["internal_write"], idempotent_by_key_seconds=WEEK)
def report(sighting: Sighting, context):
    """Reports a sighting once, also if the call is repeated."""
    if not 1 <= sighting.count <= 10_000:
        raise Failure("INVALID_INPUT", "a sighting has 1 to 10000 animals")
    if not sighting.beach.strip() or len(sighting.beach) > 100 or len(sighting.note) > 2_000:
        raise Failure("INVALID_INPUT", "a beach has 1 to 100 characters, and a note at most 2000")
    key = context.external_key
    entry = entry_of(key)
    if entry is None:
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        entry = {**described(sighting), "code_word": code_word(), "reported_at": now}
        kv.set(key, json.dumps(entry))
    return answer(key, entry)


@report.compensate
def withdraw(sighting: Sighting, result, key):
    entry = entry_of(key)
    if entry is None:
        raise Failure("POLICY_DENIED", "the sighting was removed already", applied="no")
    kept = {**described(sighting), "code_word": result.code_word, "reported_at": result.reported_at}
    if entry != kept:
        raise Failure("POLICY_DENIED", "the sighting was edited since", applied="no")
    if not kv.delete(key):
        raise Failure("POLICY_DENIED", "the sighting was removed already", applied="no")
    return Output(None, changes=[Change("sighting", key, "delete")])
