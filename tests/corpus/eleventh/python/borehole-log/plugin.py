"""Entries of a borehole log. The tool is keyed: a repetition finds the entry of the first try and keeps it."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import Change, Failure, Output, happened, kv, log, tool

WINDOW = 14 * 24 * 3600


@dataclass
class Stratum:
    borehole: str
    top_cm: int
    bottom_cm: int
    soil: str


@dataclass
class Logged:
    entry: str
    logged_at: str
    digest: str


def digest(stored):
    return hashlib.sha256(stored).hexdigest()


def logged(key, stored):
    """The answer to a call, which follows from what is stored."""
    result = Logged(key, json.loads(stored)["logged_at"], digest(stored))
    return Output(result, changes=[Change("stratum", key, "create", version=result.digest)])


@tool("Borehole.Log", output=Logged, effects=["internal_write"], idempotent_by_key_seconds=WINDOW)
def record(stratum: Stratum, context):
    """Adds a stratum to the log of a borehole."""
    if not 0 <= stratum.top_cm < stratum.bottom_cm <= 1_200_000:
        raise Failure("INVALID_INPUT", "a stratum has a top above its bottom, within 12 km")
    if not 0 < len(stratum.borehole) <= 60 or not 0 < len(stratum.soil) <= 2000:
        raise Failure("INVALID_INPUT", "the borehole has 1 to 60 characters, and the soil 1 to 2000")
    key = context.external_key
    stored = kv.get(key)
    if stored is None:
        stored = json.dumps(
            {
                "borehole": stratum.borehole,
                "top_cm": stratum.top_cm,
                "bottom_cm": stratum.bottom_cm,
                "soil": stratum.soil,
                "logged_at": datetime.now(timezone.utc).isoformat(),
            }
        ).encode()
        kv.set(key, stored)
    else:
        log.info("logged before, %d tries ago at most", context.tries_before)
    return logged(key, stored)


@record.reconcile
def find(stratum: Stratum, key):
    stored = kv.get(key)
    return "did_not_happen" if stored is None else happened(logged(key, stored))


@record.verify
def check(change):
    stored = kv.get(change.resource_id)
    if stored is None:
        return "the entry is missing"
    return True if digest(stored) == change.version else f"the entry has the digest {digest(stored)}"


@record.compensate
def strike(stratum: Stratum, result: Logged, key):
    try:
        stored = kv.get(key)
    except Failure as failure:
        raise Failure(failure.code, failure.message, applied="no")
    if stored is None or digest(stored) != result.digest:
        raise Failure("POLICY_DENIED", "the entry was changed or removed since", applied="no")
    # An error of this deletion leaves open whether the entry was removed: the default, `unknown`, says so.
    if not kv.delete(key):
        raise Failure("POLICY_DENIED", "the entry was removed since", applied="no")
    return Output({"struck": key}, changes=[Change("stratum", key, "delete")])
