"""Gives quotes for the catering of events. A quote holds its price for some hours."""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Literal, Optional

from latchwork import Change, Failure, Output, happened, kv, tool

CENTS = {"coffee": 650, "lunch": 2_450, "dinner": 4_900}


@dataclass
class Request:
    event: str
    menu: Literal["coffee", "lunch", "dinner"]
    guests: int
    # Hours for which the price is held.
    hours: int = 48


@dataclass
class Quote:
    quote: str
    cents: int
    valid_until: str


@dataclass
class Query:
    quote: str


@dataclass
class State:
    state: Literal["none", "valid", "expired", "withdrawn"]
    cents: Optional[int]


def place(key):
    return f"quote/{key}"


def entry_at(key):
    """Returns the entry of a quote, or None."""
    text = kv.get(place(key))
    return None if text is None else json.loads(text)


def quoted(key, entry):
    change = Change("quote", key, "create", version=entry["valid_until"])
    return Output(Quote(key, entry["cents"], entry["valid_until"]), changes=[change])


@tool("Catering.Quote", output=Quote, effects=["internal_write"])
def quote(request: Request, context):
    """Gives a quote for the catering of an event."""
    if not 5 <= request.guests <= 2000 or not 1 <= request.hours <= 720:
        raise Failure("INVALID_INPUT", "a quote is for 5 to 2000 guests, and is held for 1 to 720 hours")
    if not 0 < len(request.event.strip()) <= 200:
        raise Failure("INVALID_INPUT", "the event has no name")
    until = datetime.now(timezone.utc).replace(microsecond=0) + timedelta(hours=request.hours)
    cents = CENTS[request.menu] * request.guests
    entry = {"event": request.event.strip(), "cents": cents, "valid_until": until.isoformat(), "withdrawn": False}
    kv.set(place(context.external_key), json.dumps(entry))
    return quoted(context.external_key, entry)


# Called after a crash. The host asks with the key of the call.
@quote.reconcile
def find(request: Request, key):
    entry = entry_at(key)
    return "did_not_happen" if entry is None else happened(quoted(key, entry))


@quote.verify
def check(change):
    entry = entry_at(change.resource_id)
    if entry is None:
        return "the quote is missing"
    if entry["withdrawn"]:
        return "the quote was withdrawn"
    return True if entry["valid_until"] == change.version else f"the quote is valid until {entry['valid_until']}"


# A quote stays on record. After it was withdrawn, it cannot be taken.
@quote.compensate
def withdraw(request: Request, result, key):
    entry = entry_at(key)
    if entry is None or entry["withdrawn"] or entry["valid_until"] != result.valid_until:
        raise Failure("POLICY_DENIED", "the quote is no longer as it was given")
    kv.set(place(key), json.dumps(entry | {"withdrawn": True}))
    return Output(None, changes=[Change("quote", key, "withdraw")])


@tool("Catering.Look", output=State, effects=["read_only"])
def look(query: Query, context):
    """Returns the state and the price of a quote."""
    entry = entry_at(query.quote)
    if entry is None:
        return State("none", None)
    if entry["withdrawn"]:
        return State("withdrawn", entry["cents"])
    is_over = datetime.now(timezone.utc) > datetime.fromisoformat(entry["valid_until"])
    return State("expired" if is_over else "valid", entry["cents"])
