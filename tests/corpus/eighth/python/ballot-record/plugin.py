import json
from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import Change, Failure, Output, happened, kv, log, tool


@dataclass
class Ballot:
    poll: str
    choice: str


@dataclass
class Recorded:
    choice: str
    at: str


def recorded(key, entry):
    change = Change("ballot", key, "create", version=entry["at"] + " " + entry["choice"])
    return Output(Recorded(entry["choice"], entry["at"]), receipt={"ballot": key}, changes=[change])


def read(key):
    text = kv.get(key)
    return None if text is None else json.loads(text)


@tool("Ballot.Record", effects=["internal_write"])
def record(ballot: Ballot, context) -> Recorded:
    """Records a ballot. The time is stored with it."""
    if not ballot.choice or len(ballot.choice) > 200 or len(ballot.poll) > 200:
        raise Failure("INVALID_INPUT", "the choice is empty or too long")
    if kv.get(f"closing/{ballot.poll}") is not None:
        raise Failure("RATE_LIMIT", "the poll is being counted", retry_after_ms=30_000)
    entry = {"poll": ballot.poll, "choice": ballot.choice, "at": datetime.now(timezone.utc).isoformat()}
    try:
        kv.set(context.external_key, json.dumps(entry))
    except Failure as failure:
        log.warn("not recorded: %s", failure)
        raise Failure("DEPENDENCY_UNAVAILABLE", "the ballot box does not answer", applied="unknown") from failure
    return recorded(context.external_key, entry)


@record.reconcile
def find(ballot: Ballot, key):
    entry = read(key)
    return "did_not_happen" if entry is None else happened(recorded(key, entry))


@record.verify
def check(change):
    entry = read(change.resource_id)
    if entry is None:
        return "the ballot is missing"
    return True if f"{entry['at']} {entry['choice']}" == change.version else "the ballot was changed"


@record.compensate
def withdraw(ballot: Ballot, result, key):
    entry = read(key)
    if entry is None or entry["at"] != result["at"] or entry["choice"] != result["choice"]:
        raise Failure("POLICY_DENIED", "the ballot was changed or removed")
    if not kv.delete(key):
        raise Failure("POLICY_DENIED", "the ballot was removed")
    return Output(None, changes=[Change("ballot", key, "delete")])
