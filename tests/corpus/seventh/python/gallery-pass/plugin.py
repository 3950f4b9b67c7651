"""Issues passes with a random code for the visitors of a gallery."""

import hashlib
import json
import secrets
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Optional

from latchwork import Change, Failure, Output, happened, kv, log, tool

RESULT = {
    "type": "object",
    "properties": {"pass": {"type": "string"}, "code": {"type": "string"}, "issued": {"type": "string"}},
    "required": ["pass", "code", "issued"],
    "additionalProperties": False,
}


@dataclass
class Visit:
    guest: str
    day: str


@dataclass
class Question:
    number: str


@dataclass
class Found:
    found: bool
    guest: Optional[str] = None


def entry(visit, code, issued):
    return json.dumps({"code": code, "day": visit.day, "guest": visit.guest, "issued": issued}, sort_keys=True).encode()


def issued_pass(key, raw):
    """The answer for an entry of the map."""
    values = json.loads(raw)
    return Output(
        {"pass": key, "code": values["code"], "issued": values["issued"]},
        receipt={"pass": key},
        changes=[Change("pass", key, "create", version=hashlib.sha256(raw).hexdigest())],
    )


# A call in doubt is asked about, so a code is drawn again only if there is no pass.
@tool("Pass.Issue", effects=["internal_write"], output=RESULT)
def issue(visit: Visit, context):
    """Issues a pass for one day."""
    if not visit.guest.strip() or len(visit.guest) > 200 or len(visit.day) > 40:
        raise Failure("INVALID_INPUT", "a pass needs the name of its guest and a day")
    if context.tries_before:
        log.info("try %d of %s, attempt %d", context.tries_before + 1, context.slot, context.attempt)
    raw = entry(visit, secrets.token_hex(4), datetime.now(timezone.utc).isoformat())
    kv.set(f"pass/{context.external_key}", raw)
    return issued_pass(context.external_key, raw)


@issue.reconcile
def find(visit: Visit, key):
    raw = kv.get(f"pass/{key}")
    if raw is None:
        return "did_not_happen"
    try:
        return happened(issued_pass(key, raw))
    except (ValueError, TypeError, KeyError):
        return "unknown"


@issue.verify
def check(change):
    raw = kv.get(f"pass/{change.resource_id}")
    if change.operation == "delete":
        return True if raw is None else "the pass exists again"
    if raw is None:
        return "the pass is missing"
    return True if hashlib.sha256(raw).hexdigest() == change.version else "the pass has other values"


@issue.compensate
def withdraw(visit: Visit, result, key):
    if kv.get(f"pass/{key}") != entry(visit, result["code"], result["issued"]):
        raise Failure("POLICY_DENIED", "the pass was changed or withdrawn")
    if not kv.delete(f"pass/{key}"):
        raise Failure("POLICY_DENIED", "the pass was withdrawn meanwhile")
    return Output(None, changes=[Change("pass", key, "delete")])


@tool("Pass.Find", effects=["read_only"])
def look(question: Question, context) -> Found:
    """Finds the guest of a pass."""
    raw = kv.get(f"pass/{question.number}")
    try:
        return Found(False) if raw is None else Found(True, str(json.loads(raw)["guest"]))
    except (ValueError, TypeError, KeyError):
        return Found(False)
