"""Keeps the requests for tables on the terrace of a restaurant."""

import json
from dataclasses import dataclass
from datetime import date, datetime, timezone

from latchwork import Change, Failure, Output, kv, tool

WINDOW = 4 * 24 * 60 * 60
LARGEST = 14


@dataclass
class Request:
    guest: str
    day: str
    hour: int
    seats: int


@dataclass
class Kept:
    entry: str
    day: str
    hour: int


def name_of(key):
    return f"table/{key}"


def content(request):
    return json.dumps([request.guest, request.day, request.hour, request.seats])


def day_of(text):
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise Failure("INVALID_INPUT", f"{text} is no day") from None


def change(key, operation):
    return Change("table-request", name_of(key), operation)


@tool("Table.Request", output=Kept, effects=["internal_write"], idempotent_by_key_seconds=WINDOW)
def request_table(request: Request, context):
    """Keeps the request of a guest for a table on the terrace."""
    if not 1 <= request.seats <= LARGEST:
        raise Failure("INVALID_INPUT", f"a table has 1 to {LARGEST} seats, not {request.seats}")
    if not 11 <= request.hour <= 22:
        raise Failure("INVALID_INPUT", f"the terrace is closed at {request.hour} o'clock")
    if day_of(request.day) < datetime.now(timezone.utc).date():
        raise Failure("INVALID_INPUT", f"{request.day} is over")
    key = context.external_key
    kv.set(name_of(key), content(request))
    return Output(Kept(name_of(key), request.day, request.hour), changes=[change(key, "create")])


# Takes the request back while it is as it was kept.
@request_table.compensate
def take_back(request: Request, result, key):
    found = kv.get(name_of(key))
    if found is None or found.decode() != content(request):
        raise Failure("POLICY_DENIED", "the request was changed or removed")
    if not kv.delete(name_of(key)):
        raise Failure("POLICY_DENIED", "the request was removed")
    return Output(None, changes=[change(key, "delete")])
