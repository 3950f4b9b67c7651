"""Acceptances of a carpenter's quotes. A quote can be accepted until it expires."""

import json
from datetime import datetime, timezone

from latchwork import Change, Failure, Output, happened, kv, tool

QUOTE = {
    "type": "object",
    "properties": {
        "quote": {"type": "string", "minLength": 1, "maxLength": 60},
        "cents": {"type": "integer", "minimum": 1, "maximum": 100_000_000},
        "valid_until": {"type": "string", "maxLength": 30},
        "remarks": {"type": "string", "maxLength": 4000},
    },
    "required": ["quote", "cents", "valid_until"],
    "additionalProperties": False,
}
ACCEPTED = {
    "type": "object",
    "properties": {"acceptance": {"type": "string"}, "quote": {"type": "string"}, "accepted_at": {"type": "string"}},
    "required": ["acceptance", "quote", "accepted_at"],
    "additionalProperties": False,
}
FOUND = {
    "type": "object",
    "properties": {"quote": {"type": "string"}, "cents": {"type": "integer"}, "remarks": {"type": "string"}},
    "required": ["quote", "cents", "remarks"],
    "additionalProperties": False,
}
NAMED = {
    "type": "object",
    "properties": {"acceptance": {"type": "string", "pattern": "^[A-Za-z0-9_:/~-]{1,128}$"}},
    "required": ["acceptance"],
    "additionalProperties": False,
}


def name_of(acceptance):
    return f"acceptance/{acceptance}"


def stored(acceptance):
    found = kv.get(name_of(acceptance))
    return None if found is None else json.loads(found)


def accepted(key, entry):
    return Output(
        {"acceptance": key, "quote": entry["quote"], "accepted_at": entry["accepted_at"]},
        receipt={"acceptance": key, "accepted_at": entry["accepted_at"]},
        changes=[Change("acceptance", key, "create", version=entry["accepted_at"])],
    )


@tool("Quote.Accept", input=QUOTE, output=ACCEPTED, effects=["internal_write"], idempotent_by_key_seconds=5 * 24 * 60 * 60)
def accept(quote, context):
    """Accepts a quote, once for each call."""
    key = context.external_key
    entry = stored(key)
    if entry is not None:
        return accepted(key, entry)
    try:
        until = datetime.strptime(quote["valid_until"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
    except ValueError:
        raise Failure("INVALID_INPUT", f"{quote['valid_until']} is no moment such as 2026-03-01T12:00:00Z") from None
    now = datetime.now(timezone.utc)
    if now > until:
        raise Failure("POLICY_DENIED", f"quote {quote['quote']} expired at {quote['valid_until']}")
    entry = {
        "quote": quote["quote"],
        "cents": int(quote["cents"]),
        "remarks": quote.get("remarks", ""),
        "accepted_at": now.isoformat(),
    }
    kv.set(name_of(key), json.dumps(entry))
    return accepted(key, entry)


@accept.reconcile
def find(quote, key):
    entry = stored(key)
    return "did_not_happen" if entry is None else happened(accepted(key, entry))


@accept.verify
def check(change):
    entry = stored(change.resource_id)
    if entry is None:
        return "the acceptance is missing"
    return True if entry["accepted_at"] == change.version else f"it was accepted at {entry['accepted_at']}"


@accept.compensate
def withdraw(quote, result, key):
    entry = stored(key)
    if entry is None or entry["accepted_at"] != result["accepted_at"] or entry["quote"] != quote["quote"]:
        raise Failure("POLICY_DENIED", "the acceptance was changed or removed")
    if not kv.delete(name_of(key)):
        raise Failure("POLICY_DENIED", "the acceptance was removed")
    return Output(None, changes=[Change("acceptance", key, "delete")])


@tool("Quote.Find", input=NAMED, output=FOUND)
def look(wish, context):
    """Reads an accepted quote."""
    entry = stored(wish["acceptance"])
    if entry is None:
        raise Failure("INVALID_INPUT", f"there is no acceptance {wish['acceptance']}")
    return {"quote": entry["quote"], "cents": entry["cents"], "remarks": entry["remarks"]}
