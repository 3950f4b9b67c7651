"""Lends a climbing harness: the climber gets a ticket with a code. The tickets stay in the map for a season."""

import json
import secrets
from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import Change, Failure, Output, happened, kv, log, tool

SIZES = ("XS", "S", "M", "L", "XL")


@dataclass
class Wish:
    climber: str
    size: str


@dataclass
class Ticket:
    reference: str
    code: str
    at: str


def text_of(wish, code, at):
    return json.dumps({"climber": wish.climber, "size": wish.size, "code": code, "at": at})


def ticket(key, text):
    stored = json.loads(text)
    change = Change("ticket", key, "create", version=text)
    return Output(Ticket(key, stored["code"], stored["at"]), changes=[change])


def stored_text(key):
    stored = kv.get(key)
    return None if stored is None else stored.decode(errors="replace")


@tool("Harness.Lend", output=Ticket, effects=["internal_write"], idempotent_by_key_seconds=86_400)
def lend(wish: Wish, context):
    """Lends a climbing harness."""
    if wish.size not in SIZES or not wish.climber.strip() or len(wish.climber) > 100:
        raise Failure("INVALID_INPUT", f"a ticket has a climber and one of the sizes {', '.join(SIZES)}")
    key = context.external_key
    text = stored_text(key)
    if text is None:
        code = f"{secrets.randbelow(10_000):04}"
        text = text_of(wish, code, datetime.now(timezone.utc).isoformat())
        kv.set(key, text)
    else:
        # The climber may have the first ticket in hand, so its code stays.
        log.info("%s has its ticket, %d tries before this one", context.slot, context.tries_before)
    return ticket(key, text)


@lend.reconcile
def find(wish: Wish, key):
    text = stored_text(key)
    return "did_not_happen" if text is None else happened(ticket(key, text))


@lend.verify
def check(change):
    text = stored_text(change.resource_id)
    if text is None:
        return "the ticket is missing"
    return True if text == change.version else "the ticket was changed"


@lend.compensate
def take_back(wish: Wish, result, key):
    text = stored_text(key)
    if text is None:
        raise Failure("POLICY_DENIED", "the ticket is no longer there")
    if text != text_of(wish, result.code, result.at):
        raise Failure("POLICY_DENIED", "the ticket was changed since")
    if not kv.delete(key):
        raise Failure("POLICY_DENIED", "the ticket was removed meanwhile")
    return Output(None, changes=[Change("ticket", key, "delete")])
