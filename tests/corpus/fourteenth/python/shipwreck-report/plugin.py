"""Keeps reports of shipwrecks that divers have found. A withdrawn report keeps its place with a mark."""

import hashlib
import json
import uuid
from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import Change, Failure, Output, happened, kv, tool


@dataclass
class Wreck:
    name: str
    depth_m: float
    remains: list[str]


@dataclass
class Reported:
    id: str
    reference: str
    reported_at: str


@dataclass
class Wanted:
    id: str


@dataclass
class Shown:
    name: str
    depth_m: float
    remains: list[str]


def load(key):
    kept = kv.get(f"wreck/{key}")
    return None if kept is None else json.loads(kept)


def version(kept):
    """Returns a fingerprint of a report, without its mark."""
    body = {name: value for name, value in kept.items() if name != "withdrawn"}
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def reported(key, kept):
    change = Change("wreck", key, "create", version=version(kept))
    return Output(Reported(key, kept["reference"], kept["reported_at"]), receipt={"id": key}, changes=[change])


# The tool is not keyed, so it may store the time and a random reference.
@tool("Wreck.Report", output=Reported, effects=["internal_write"])
def report(wreck: Wreck, context):
    """Keeps the report of a wreck."""
    if not wreck.name.strip() or not 0 <= wreck.depth_m <= 11000:
        raise Failure("INVALID_INPUT", "a report has a name and a depth of 0 to 11000 m")
    kept = {
        "name": wreck.name.strip(),
        "depth_m": wreck.depth_m,
        "remains": sorted({part.strip().lower() for part in wreck.remains}),
        "reference": uuid.uuid4().hex[:10],
        "reported_at": datetime.now(timezone.utc).isoformat(),
        "withdrawn": False,
    }
    kv.set(f"wreck/{context.external_key}", json.dumps(kept))
    return reported(context.external_key, kept)


@report.reconcile
def find(wreck: Wreck, key):
    kept = load(key)
    if kept is None:
        return "did_not_happen"
    return "unknown" if kept["withdrawn"] else happened(reported(key, kept))


@report.verify
def check(change):
    kept = load(change.resource_id)
    if kept is None:
        return "the report is missing"
    if kept["withdrawn"]:
        return "the report is withdrawn"
    return True if version(kept) == change.version else "the report was changed"


@report.compensate
def withdraw(wreck: Wreck, result, key):
    kept = load(key)
    if kept is None or kept["withdrawn"] or kept["reference"] != result.reference:
        raise Failure("POLICY_DENIED", f"the report {key} was removed, withdrawn or replaced")
    kv.set(f"wreck/{key}", json.dumps({**kept, "withdrawn": True}))
    return Output(None, changes=[Change("wreck", key, "withdraw", version=version(kept))])


@tool("Wreck.Show")
def show(wanted: Wanted, context) -> Shown:
    """Shows a report that is not withdrawn."""
    kept = load(wanted.id)
    if kept is None or kept["withdrawn"]:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"there is no report {wanted.id}")
    return Shown(kept["name"], kept["depth_m"], kept["remains"])
