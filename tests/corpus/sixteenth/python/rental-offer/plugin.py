"""Makes offers for the rental of machines. An offer is valid for some minutes."""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Literal, Optional

from latchwork import Change, Failure, Output, happened, kv, tool

PRICES = {"digger": 18_900, "roller": 9_400, "lift": 12_500}


@dataclass
class Request:
    machine: Literal["digger", "roller", "lift"]
    days: int
    customer: str
    # Minutes for which the price is held.
    held: int = 20


@dataclass
class Offer:
    offer: str
    cents: int
    valid_until: str


@dataclass
class Query:
    offer: str


@dataclass
class State:
    state: Literal["none", "valid", "expired"]
    cents: Optional[int]


def place(key):
    return f"offer/{key}"


def entry_at(key):
    """Returns the entry of an offer, or None."""
    text = kv.get(place(key))
    return None if text is None else json.loads(text)


def is_valid(entry):
    return entry is not None and datetime.now(timezone.utc) <= datetime.fromisoformat(entry["valid_until"])


def offered(key, entry):
    change = Change("offer", key, "create", version=entry["valid_until"])
    return Output(Offer(key, entry["cents"], entry["valid_until"]), changes=[change])


@tool("Rental.Offer", output=Offer, effects=["internal_write"])
def offer(request: Request, context):
    """Makes an offer for the rental of a machine."""
    if not 1 <= request.days <= 90 or not 1 <= request.held <= 1440:
        raise Failure("INVALID_INPUT", "an offer is for 1 to 90 days, and is held for 1 to 1440 minutes")
    if not 0 < len(request.customer.strip()) <= 200:
        raise Failure("INVALID_INPUT", "the offer has no customer")
    discount = 15 if request.days >= 28 else 5 if request.days >= 7 else 0
    cents = PRICES[request.machine] * request.days * (100 - discount) // 100
    until = datetime.now(timezone.utc).replace(microsecond=0) + timedelta(minutes=request.held)
    entry = {"customer": request.customer.strip(), "cents": cents, "valid_until": until.isoformat()}
    kv.set(place(context.external_key), json.dumps(entry))
    return offered(context.external_key, entry)


# Called after a crash: an offer that a customer can still take was made.
@offer.reconcile
def find(request: Request, key):
    entry = entry_at(key)
    return happened(offered(key, entry)) if is_valid(entry) else "did_not_happen"


@offer.compensate
def withdraw(request: Request, result, key):
    entry = entry_at(key)
    if entry is None or entry["valid_until"] != result.valid_until:
        raise Failure("POLICY_DENIED", "the offer is no longer there")
    if not kv.delete(place(key)):
        raise Failure("POLICY_DENIED", "the offer was withdrawn by another party")
    return Output(None, changes=[Change("offer", key, "delete")])


@tool("Rental.Look", output=State, effects=["read_only"])
def look(query: Query, context):
    """Returns the state and the price of an offer."""
    entry = entry_at(query.offer)
    if entry is None:
        return State("none", None)
    return State("valid" if is_valid(entry) else "expired", entry["cents"])
