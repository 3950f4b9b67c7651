"""Lost property of a theatre: umbrellas that were handed in, each kept for some days."""

import json
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Optional

from latchwork import Change, Failure, Output, happened, kv, tool

MAX_DAYS = 365
MAX_TEXT = 500


@dataclass
class Found:
    looks: str
    seat: str
    days: int = 90


@dataclass
class Ticket:
    ticket: str
    keep_until: str


@dataclass
class Asked:
    ticket: str


@dataclass
class Shelf:
    is_here: bool
    looks: Optional[str]
    seat: Optional[str]
    keep_until: Optional[str]


def stored(ticket):
    """Returns the entry of a ticket, or None."""
    value = kv.get(ticket)
    return None if value is None else json.loads(value)


def ticketed(ticket, entry):
    return Output(Ticket(ticket, entry["keep_until"]), changes=[Change("umbrella", ticket, "create")])


@tool("Umbrella.HandIn", output=Ticket, effects=["internal_write"])
def hand_in(found: Found, context):
    """Puts an umbrella on the shelf and returns its ticket."""
    if not found.looks.strip() or len(found.looks) + len(found.seat) > MAX_TEXT:
        raise Failure("INVALID_INPUT", f"the umbrella needs a description of at most {MAX_TEXT} characters")
    if not 1 <= found.days <= MAX_DAYS:
        raise Failure("INVALID_INPUT", f"an umbrella is kept for 1 to {MAX_DAYS} days")
    keep_until = (date.today() + timedelta(days=found.days)).isoformat()
    entry = {"looks": found.looks.strip(), "seat": found.seat.strip(), "keep_until": keep_until}
    kv.set(context.external_key, json.dumps(entry))
    return ticketed(context.external_key, entry)


@hand_in.reconcile
def was_handed_in(found: Found, key):
    entry = stored(key)
    return "did_not_happen" if entry is None else happened(ticketed(key, entry))


@tool("Umbrella.Look", effects=["read_only"])
def look(asked: Asked, context) -> Shelf:
    """Looks whether the umbrella of a ticket is still on the shelf."""
    nothing = Shelf(False, None, None, None)
    if not asked.ticket or len(asked.ticket) > 128 or not asked.ticket.isascii():
        raise Failure("INVALID_INPUT", "this is no ticket")
    entry = stored(asked.ticket)
    if entry is None:
        return nothing
    if date.fromisoformat(entry["keep_until"]) < date.today():
        # Given to charity by now, so the entry is not needed any more.
        kv.delete(asked.ticket)
        return nothing
    return Shelf(True, entry["looks"], entry["seat"], entry["keep_until"])
