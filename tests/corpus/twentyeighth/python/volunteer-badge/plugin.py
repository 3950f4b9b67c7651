"""Badges of festival volunteers. A badge has a random PIN for the lockers. It cannot be found out later whether a
lost call has made its badge and its shift card in full, so the tool answers nothing about it: a person looks."""

import json
import secrets
from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import Failure, Output, kv, log, tool

ROOM = 60_000


@dataclass
class Volunteer:
    name: str
    shifts: list[str]
    festival: str


@dataclass
class Badge:
    badge: str
    pin: str
    issued: str


@dataclass
class Question:
    badge: str


@dataclass
class Card:
    name: str
    shifts: list[str]


def put(name, value, changed):
    """Writes an entry. After an earlier write of the call, any failure leaves the call in doubt."""
    try:
        kv.set(name, value)
    except Failure as failure:
        if not changed:
            raise
        log.warn("%s could not be written after the badge", name)
        raise Failure(
            failure.code, failure.message, detail=failure.detail, retry_after_ms=failure.retry_after_ms, applied="unknown"
        ) from failure


@tool("Badge.Issue", output=Badge, effects=["internal_write"])
def issue(volunteer: Volunteer, context):
    """Issues a badge and a shift card to a volunteer."""
    name = volunteer.name.strip()
    if not name:
        raise Failure("INVALID_INPUT", "the volunteer has no name")
    shifts = sorted(set(volunteer.shifts))
    card = json.dumps({"name": name, "shifts": shifts})
    # Too late after the first write.
    if len(card.encode()) > ROOM:
        raise Failure("INVALID_INPUT", "the shifts do not fit the card")
    moment = datetime.now(timezone.utc)
    badge = Badge(context.external_key, f"{secrets.randbelow(10**6):06d}", moment.isoformat(timespec="seconds"))
    front = json.dumps({"festival": volunteer.festival, "pin": badge.pin, "issued": badge.issued})
    if len(front.encode()) > ROOM:
        raise Failure("INVALID_INPUT", "the name of the festival is too long")
    log.info("try %d of %s", context.tries_before + 1, context.slot)
    put(f"badge/{badge.badge}", front, changed=False)
    put(f"card/{badge.badge}", card, changed=True)
    return Output(badge, receipt={"badge": badge.badge, "issued": badge.issued})


@tool("Badge.Card", effects=["read_only"])
def card(question: Question, context) -> Card:
    """Shows the shift card that belongs to a badge."""
    found = kv.get(f"card/{question.badge}")
    if found is None:
        raise Failure("INVALID_INPUT", "there is no such badge")
    return Card(**json.loads(found))
