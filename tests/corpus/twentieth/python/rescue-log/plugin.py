"""Keeps the log of a mountain rescue station."""

import json
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import Optional

from latchwork import Change, Failure, Output, happened, kv, tool

LONGEST = 2000


@dataclass
class Mission:
    place: str
    report: str
    rescued: int


@dataclass
class Logged:
    entry: str
    logged_at: str


@dataclass
class Entry:
    place: str
    report: str
    rescued: int
    logged_at: str
    undone: Optional[bool] = None


@dataclass
class Wanted:
    entry: str


def name_of(key):
    return f"mission/{key}"


def stored(name):
    found = kv.get(name)
    return None if found is None else Entry(**json.loads(found))


def logged(key, entry):
    name = name_of(key)
    return Output(Logged(name, entry.logged_at), changes=[Change("mission", name, "create", version=entry.logged_at)])


@tool("Mission.Log", output=Logged, effects=["internal_write"])
def log_mission(mission: Mission, context):
    """Writes a mission into the log, with the time of the entry."""
    if len(mission.report) > LONGEST or len(mission.place) > 200:
        raise Failure("INVALID_INPUT", f"a place has at most 200 characters, and a report {LONGEST}")
    if mission.rescued < 0:
        raise Failure("INVALID_INPUT", f"{mission.rescued} people cannot be rescued")
    entry = Entry(mission.place, mission.report, mission.rescued, datetime.now(timezone.utc).isoformat())
    kv.set(name_of(context.external_key), json.dumps(asdict(entry)))
    return logged(context.external_key, entry)


# Called after a crash.
@log_mission.reconcile
def find(mission: Mission, key):
    entry = stored(name_of(key))
    if entry is None:
        return "did_not_happen"
    return "unknown" if entry.undone else happened(logged(key, entry))


@log_mission.verify
def check(change):
    entry = stored(change.resource_id)
    if entry is None or entry.undone:
        return "the mission is no longer in the log"
    return True if entry.logged_at == change.version else f"the mission was logged at {entry.logged_at}"


# A log keeps its pages, so the entry stays and is marked.
@log_mission.compensate
def strike(mission: Mission, result: Logged, key):
    entry = stored(name_of(key))
    if entry is None or entry.undone or entry.logged_at != result.logged_at:
        raise Failure("POLICY_DENIED", "the entry was changed or struck out")
    entry.undone = True
    kv.set(name_of(key), json.dumps(asdict(entry)))
    return Output(None, changes=[Change("mission", name_of(key), "delete")])


@tool("Mission.Read", output=Entry, effects=["read_only"])
def read(wanted: Wanted, context):
    """Reads a mission that was not struck out."""
    is_name = wanted.entry.startswith("mission/") and len(wanted.entry.encode()) <= 200
    entry = stored(wanted.entry) if is_name else None
    if entry is None or entry.undone:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"the log has no {wanted.entry[:200]}")
    return entry
