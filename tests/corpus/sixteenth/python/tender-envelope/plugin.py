"""Keeps the sealed offers for the tenders of a town until they are opened."""

import json
import secrets
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Optional

from latchwork import Change, Failure, Output, kv, tool

MAX_CENTS = 10**12
# An envelope can be handed in again under its key for two days.
WINDOW_SECONDS = 172_800


@dataclass
class Offer:
    tender: str
    bidder: str
    cents: int
    # Last moment at which the tender takes envelopes, such as 2026-03-01T12:00:00+00:00.
    closes: str


@dataclass
class Receipt:
    envelope: str
    stamp: str


@dataclass
class Query:
    envelope: str


@dataclass
class Known:
    received: bool
    tender: Optional[str]


def place(key):
    return f"envelope/{key}"


def received(key, entry):
    change = Change("envelope", key, "create", version=entry["stamp"])
    return Output(Receipt(key, entry["stamp"]), receipt={"stamp": entry["stamp"]}, changes=[change])


def moment(text):
    """Returns a time with its zone."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise Failure("INVALID_INPUT", f"{text} is no time") from error
    if at.tzinfo is None:
        raise Failure("INVALID_INPUT", f"{text} has no time zone")
    return at


@tool("Tender.Submit", output=Receipt, effects=["internal_write"], idempotent_by_key_seconds=WINDOW_SECONDS)
def submit(offer: Offer, context):
    """Takes a sealed offer, and returns the stamp on its envelope."""
    if not 0 < offer.cents <= MAX_CENTS:
        raise Failure("INVALID_INPUT", "the offer has no price")
    now = datetime.now(timezone.utc)
    if now > moment(offer.closes):
        raise Failure("POLICY_DENIED", f"the tender {offer.tender} closed at {offer.closes}")
    key = context.external_key
    text = kv.get(place(key))
    if text is not None:
        return received(key, json.loads(text))
    entry = {
        "tender": offer.tender,
        "bidder": offer.bidder,
        "cents": offer.cents,
        "at": now.isoformat(),
        "stamp": secrets.token_hex(6),
    }
    kv.set(place(key), json.dumps(entry))
    return received(key, entry)


@tool("Tender.Known", output=Known, effects=["read_only"])
def known(query: Query, context):
    """Tells whether an envelope was received, without its price."""
    text = kv.get(place(query.envelope))
    return Known(text is not None, None if text is None else json.loads(text)["tender"])
