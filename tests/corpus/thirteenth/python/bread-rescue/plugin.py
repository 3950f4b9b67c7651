"""Passes on unsold bread: a bakery offers it until a time, and a pantry looks it up."""

import json
from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import Change, Failure, Output, happened, kv, log, tool


@dataclass
class Offer:
    """Bread that can be fetched. `until` is an ISO time with its offset, such as 2026-05-01T19:30:00+02:00."""

    bakery: str
    loaves: int
    until: str


@dataclass
class Offered:
    offer: str
    loaves: int


@dataclass
class Wanted:
    offer: str


@dataclass
class Found:
    available: bool
    bakery: str
    loaves: int


def moment(text):
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise Failure("INVALID_INPUT", f"{text!r} is not a time") from None
    if when.tzinfo is None:
        raise Failure("INVALID_INPUT", f"{text!r} has no offset from UTC")
    return when


def offered(key, entry):
    return Output(Offered(key, entry["loaves"]), changes=[Change("offer", key, "create")])


@tool("Bread.Offer", output=Offered, effects=["internal_write"])
def offer(given: Offer, context):
    """Offers unsold bread."""
    moment(given.until)
    if not 1 <= given.loaves <= 500:
        raise Failure("INVALID_INPUT", "an offer has 1 to 500 loaves")
    if not given.bakery.strip() or len(given.bakery) > 100:
        raise Failure("INVALID_INPUT", "the bakery needs a name of at most 100 characters")
    entry = {"bakery": given.bakery.strip(), "loaves": given.loaves, "until": given.until}
    kv.set(context.external_key, json.dumps(entry))
    return offered(context.external_key, entry)


@offer.reconcile
def find(given: Offer, key):
    raw = kv.get(key)
    return "did_not_happen" if raw is None else happened(offered(key, json.loads(raw)))


@tool("Bread.Look")
def look(wanted: Wanted, context) -> Found:
    """Looks up an offer, for the pantry's board."""
    raw = kv.get(wanted.offer)
    if raw is None:
        return Found(False, "", 0)
    entry = json.loads(raw)
    if moment(entry["until"]) < datetime.now(timezone.utc):
        log.info("%s is over", wanted.offer)
        kv.delete(wanted.offer)
        return Found(False, entry["bakery"], 0)
    return Found(True, entry["bakery"], entry["loaves"])
