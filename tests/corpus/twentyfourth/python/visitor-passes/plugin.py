"""Day passes for the visitors of a laboratory. The porter asks for the code that a pass got when it was issued."""

import json
import secrets
from datetime import date, datetime, timezone

from latchwork import Change, Failure, Output, happened, kv, tool

VISIT = {
    "type": "object",
    "properties": {
        "guest": {"type": "string", "minLength": 1, "maxLength": 80},
        "host": {"type": "string", "minLength": 1, "maxLength": 80},
        "day": {"type": "string", "pattern": "^20[0-9]{2}-[0-9]{2}-[0-9]{2}$"},
    },
    "required": ["guest", "host", "day"],
    "additionalProperties": False,
}
ISSUED = {
    "type": "object",
    "properties": {"pass": {"type": "string"}, "code": {"type": "string"}, "issued_at": {"type": "string"}},
    "required": ["pass", "code", "issued_at"],
    "additionalProperties": False,
}
SHOWN = {
    "type": "object",
    "properties": {
        "pass": {"type": "string", "pattern": "^[A-Za-z0-9_:/~-]{1,128}$"},
        "code": {"type": "string", "maxLength": 20},
    },
    "required": ["pass", "code"],
    "additionalProperties": False,
}
ADMITTED = {
    "type": "object",
    "properties": {"admitted": {"type": "boolean"}, "day": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
    "required": ["admitted", "day"],
    "additionalProperties": False,
}


def name_of(key):
    return f"pass/{key}"


def stored(key):
    found = kv.get(name_of(key))
    return None if found is None else json.loads(found)


def issued(key, entry):
    return Output(
        {"pass": key, "code": entry["code"], "issued_at": entry["issued_at"]},
        receipt={"pass": key, "code": entry["code"]},
        changes=[Change("pass", key, "create", version=entry["code"])],
    )


@tool("Pass.Issue", input=VISIT, output=ISSUED, effects=["internal_write"])
def issue(visit, context):
    """Issues a pass with a code of six digits."""
    if not visit["guest"].strip():
        raise Failure("INVALID_INPUT", "the visit names no guest")
    try:
        date.fromisoformat(visit["day"])
    except ValueError:
        raise Failure("INVALID_INPUT", f"there is no day {visit['day']}") from None
    entry = {
        "guest": visit["guest"],
        "host": visit["host"],
        "day": visit["day"],
        "code": f"{secrets.randbelow(1_000_000):06d}",
        "issued_at": datetime.now(timezone.utc).isoformat(),
    }
    kv.set(name_of(context.external_key), json.dumps(entry))
    return issued(context.external_key, entry)


@issue.reconcile
def find(visit, key):
    entry = stored(key)
    return "did_not_happen" if entry is None else happened(issued(key, entry))


@issue.verify
def check(change):
    entry = stored(change.resource_id)
    if entry is None:
        return "the pass is missing"
    return True if entry["code"] == change.version else "the pass has another code"


@issue.compensate
def withdraw(visit, result, key):
    entry = stored(key)
    if entry is None or entry["code"] != result["code"] or entry["guest"] != visit["guest"]:
        raise Failure("POLICY_DENIED", "the pass was changed or removed")
    if not kv.delete(name_of(key)):
        raise Failure("POLICY_DENIED", "the pass was removed")
    return Output(None, changes=[Change("pass", key, "delete")])


@tool("Pass.Check", input=SHOWN, output=ADMITTED)
def admit(shown, context):
    """Checks the code of a pass at the gate."""
    entry = stored(shown["pass"])
    if entry is None or not secrets.compare_digest(entry["code"].encode(), shown["code"].encode()):
        return {"admitted": False, "day": None}
    return {"admitted": True, "day": entry["day"]}
