"""Inscriptions of the lockers of a swimming hall. An inscription has the time at which it was entered first."""

import hashlib
import json
from datetime import datetime, timezone

from latchwork import Change, Failure, Output, kv, tool

INPUT = {
    "type": "object",
    "properties": {
        "locker": {"type": "integer", "minimum": 1, "maximum": 400},
        "line": {"type": "string", "minLength": 1, "maxLength": 80},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 30}, "maxItems": 12},
    },
    "required": ["locker", "line", "tags"],
    "additionalProperties": False,
}
RESULT = {
    "type": "object",
    "properties": {
        "inscription": {"type": "string"},
        "locker": {"type": "integer"},
        "since": {"type": "string"},
    },
    "required": ["inscription", "locker", "since"],
    "additionalProperties": False,
}


def name_of(key):
    return f"inscription/{key}"


def entered(text, key):
    """The answer of every try: it is made from the entry alone."""
    entry = json.loads(text)
    return Output(
        {"inscription": name_of(key), "locker": entry["locker"], "since": entry["since"]},
        receipt={"inscription": name_of(key), "since": entry["since"]},
        changes=[Change("inscription", name_of(key), "create", version=hashlib.sha256(text).hexdigest())],
    )


def text_of(request, since):
    # A tag may come twice and in any order, and the same tags are the same entry.
    entry = {"locker": request["locker"], "line": request["line"], "tags": sorted(set(request["tags"])), "since": since}
    return json.dumps(entry, sort_keys=True).encode()


# The hall keeps an entry until it is taken back, so a repetition within a week finds it.
@tool("Locker.Inscribe", input=INPUT, output=RESULT, effects=["internal_write"], idempotent_by_key_seconds=7 * 86_400)
def inscribe(request, context):
    """Enters the inscription of a locker."""
    if not request["line"].strip():
        raise Failure("INVALID_INPUT", "the line is blank")
    key = context.external_key
    # The time is read only by the try that enters the inscription. Later tries answer with the time of the entry.
    text = kv.get(name_of(key))
    if text is None:
        text = text_of(request, datetime.now(timezone.utc).isoformat(timespec="seconds"))
        kv.set(name_of(key), text)
    return entered(text, key)


@inscribe.verify
def check(change):
    text = kv.get(change.resource_id)
    if change.operation == "delete":
        return True if text is None else "the inscription is there again"
    if text is None:
        return "the inscription was removed"
    return True if hashlib.sha256(text).hexdigest() == change.version else "the inscription was changed"


@inscribe.compensate
def take_back(request, result, key):
    text = kv.get(name_of(key))
    if text is None:
        raise Failure("POLICY_DENIED", "the inscription was removed by somebody else")
    if text != text_of(request, result["since"]):
        raise Failure("POLICY_DENIED", "the inscription was changed since")
    if not kv.delete(name_of(key)):
        raise Failure("POLICY_DENIED", "the inscription was removed by somebody else")
    return Output({"removed": name_of(key)}, changes=[Change("inscription", name_of(key), "delete")])
