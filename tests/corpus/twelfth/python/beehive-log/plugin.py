"""The log of an apiary: inspections of hives, and honey harvests."""

import json
from dataclasses import dataclass
from typing import Literal

from latchwork import Change, Failure, Output, happened, kv, tool

MAX_NOTE = 4_000


@dataclass
class Inspection:
    hive: str
    day: str
    queen_seen: bool
    temper: Literal["calm", "nervous", "defensive"]
    note: str = ""


@dataclass
class Harvest:
    hive: str
    day: str
    frames: int
    grams: int


@dataclass
class Logged:
    entry: str
    hive: str


def text_of(kind, values):
    """Returns the text of an entry: JSON with sorted keys, so that equal entries have equal texts."""
    return json.dumps({"kind": kind, **values}, sort_keys=True)


def inspection_text(seen):
    values = {"hive": seen.hive, "day": seen.day, "queen": seen.queen_seen, "temper": seen.temper, "note": seen.note}
    return text_of("inspection", values)


def harvest_text(taken):
    return text_of("harvest", {"hive": taken.hive, "day": taken.day, "frames": taken.frames, "grams": taken.grams})


def logged(kind, key, hive, text):
    return Output(Logged(key, hive), changes=[Change(kind, key, "create", version=text)])


def check_hive(hive):
    if not hive.strip() or len(hive) > 80:
        raise Failure("INVALID_INPUT", "the name of a hive has 1 to 80 characters")


@tool("Hive.Inspect", output=Logged, effects=["internal_write"])
def inspect(seen: Inspection, context):
    """Logs an inspection of a hive."""
    check_hive(seen.hive)
    if len(seen.note) > MAX_NOTE or len(seen.day) > 10:
        raise Failure("INVALID_INPUT", f"a note has at most {MAX_NOTE} characters, and a day has 10")
    text = inspection_text(seen)
    kv.set(context.external_key, text)
    return logged("inspection", context.external_key, seen.hive, text)


@inspect.reconcile
def was_inspected(seen: Inspection, key):
    text = kv.get(key)
    return "did_not_happen" if text is None else happened(logged("inspection", key, seen.hive, text.decode()))


@inspect.verify
def still_logged(change):
    text = kv.get(change.resource_id)
    if text is None:
        return "the entry is missing"
    return True if text.decode() == change.version else "the entry has another text"


@tool("Hive.Harvest", output=Logged, effects=["internal_write"])
def harvest(taken: Harvest, context):
    """Logs a honey harvest."""
    check_hive(taken.hive)
    if not 1 <= taken.frames <= 60 or not 1 <= taken.grams <= 200_000 or len(taken.day) > 10:
        raise Failure("INVALID_INPUT", "a harvest has a day, 1 to 60 frames and 1 to 200000 grams")
    text = harvest_text(taken)
    kv.set(context.external_key, text)
    return logged("harvest", context.external_key, taken.hive, text)


@harvest.reconcile
def was_harvested(taken: Harvest, key):
    text = kv.get(key)
    return "did_not_happen" if text is None else happened(logged("harvest", key, taken.hive, text.decode()))
