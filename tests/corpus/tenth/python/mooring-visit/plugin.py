import hashlib
import json
from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import Change, Failure, Output, happened, kv, tool


@dataclass
class Visit:
    boat: str
    berth: str
    remarks: str = ""


@dataclass
class Recorded:
    entry: str
    arrived_at: str
    digest: str


def recorded(key, raw):
    digest = hashlib.sha256(raw).hexdigest()
    change = Change("visit", key, "create", version=digest)
    return Output(Recorded(key, json.loads(raw)["arrived_at"], digest), changes=[change])


@tool("Mooring.Visit", output=Recorded, effects=["internal_write"], idempotent_by_key_seconds=30 * 86400)
def record(visit: Visit, context):
    """Records the visit of a boat with the time of its arrival."""
    if not visit.boat.strip() or len(visit.boat) > 100 or len(visit.berth) > 100 or len(visit.remarks) > 4000:
        raise Failure("INVALID_INPUT", "the boat has no name, or a text is too long")
    key = context.external_key
    raw = kv.get(key)
    if raw is None:
        # A later try of this call finds the entry and keeps the time.
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        entry = {"boat": visit.boat, "berth": visit.berth, "remarks": visit.remarks, "arrived_at": now}
        raw = json.dumps(entry).encode()
        kv.set(key, raw)
    return recorded(key, raw)


@record.reconcile
def find(visit: Visit, key):
    raw = kv.get(key)
    return "did_not_happen" if raw is None else happened(recorded(key, raw))


@record.verify
def check(change):
    raw = kv.get(change.resource_id)
    if raw is None:
        return "the visit is missing"
    return True if hashlib.sha256(raw).hexdigest() == change.version else "the visit was changed"


@record.compensate
def take_back(visit: Visit, result, key):
    raw = kv.get(key)
    if raw is None:
        raise Failure("POLICY_DENIED", "the visit is no longer there")
    if hashlib.sha256(raw).hexdigest() != result.digest:
        raise Failure("POLICY_DENIED", "the visit was changed after it was recorded")
    if not kv.delete(key):
        raise Failure("POLICY_DENIED", "the visit was removed at the same time")
    return Output(None, changes=[Change("visit", key, "delete")])
