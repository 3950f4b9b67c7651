"""Entries of an essay contest. An essay is received before the closing time, or not at all."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import Change, Failure, Output, kv, tool

DAY = 86_400
MAX_BYTES = 30_000


@dataclass
class Essay:
    author: str
    text: str
    closes: str


@dataclass
class Received:
    entry: str
    words: int
    received_at: str


@dataclass
class Number:
    entry: str


def place(entry):
    return f"essay/{entry}"


def stored(entry):
    raw = kv.get(place(entry))
    return None if raw is None else json.loads(raw)


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def output(entry, found):
    """The answer about an essay, from its entry."""
    return Output(
        Received(entry, len(found["text"].split()), found["received_at"]),
        receipt={"entry": entry, "received_at": found["received_at"]},
        changes=[Change("essay", entry, "create", version=digest(found["text"]))],
    )


def checked(essay, now):
    """Refuses an essay that is too late, too long or empty."""
    try:
        closes = datetime.fromisoformat(essay.closes)
    except ValueError:
        raise Failure("INVALID_INPUT", f"closes: {essay.closes!r} is no time") from None
    if closes.tzinfo is None:
        raise Failure("INVALID_INPUT", f"closes: {essay.closes!r} has no time zone")
    if now >= closes:
        raise Failure("POLICY_DENIED", "the contest is closed")
    if not essay.text.strip():
        raise Failure("INVALID_INPUT", "the essay is empty")
    if len(essay.text.encode()) > MAX_BYTES:
        raise Failure("INVALID_INPUT", f"an essay has at most {MAX_BYTES} bytes")


@tool("Essay.Submit", output=Received, effects=["internal_write"], idempotent_by_key_seconds=3 * DAY)
def submit(essay: Essay, context):
    """Receives an essay for the contest."""
    entry = context.external_key
    found = stored(entry)
    if found is None:
        now = datetime.now(timezone.utc)
        checked(essay, now)
        found = {"author": essay.author[:80], "text": essay.text, "received_at": now.isoformat(timespec="seconds")}
        kv.set(place(entry), json.dumps(found, ensure_ascii=False))
    return output(entry, found)


@submit.verify
def is_received(change):
    """Checks that an essay is in the box as it was received."""
    found = stored(change.resource_id)
    if found is None:
        return "the essay is not in the box"
    return True if digest(found["text"]) == change.version else "the essay in the box has another text"


@tool("Essay.Show", output=Received, effects=["read_only"])
def show(given: Number, context):
    """Says when an essay was received."""
    found = stored(given.entry)
    if found is None:
        raise Failure("INVALID_INPUT", f"there is no essay {given.entry}")
    return output(given.entry, found).result
