"""Pledges for a matching campaign: a sponsor doubles each pledge that is made before the campaign closes."""

import json
from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import Change, Failure, Output, kv, tool

DAY = 86_400
# The sponsor doubles up to this amount.
MATCHED_CENTS = 50_000


@dataclass
class Pledge:
    campaign: str
    donor: str
    cents: int
    closes: str


@dataclass
class Number:
    pledge: str


@dataclass
class Made:
    pledge: str
    matched_cents: int
    made_at: str


def place(pledge):
    return f"pledge/{pledge}"


def stored(pledge):
    raw = kv.get(place(pledge))
    return None if raw is None else json.loads(raw)


def output(pledge, entry):
    return Output(
        Made(pledge, min(entry["cents"], MATCHED_CENTS), entry["made_at"]),
        receipt={"pledge": pledge},
        changes=[Change("pledge", pledge, "create", version=entry["made_at"])],
    )


def closing(text):
    """Reads the time at which a campaign closes."""
    try:
        closes = datetime.fromisoformat(text)
    except ValueError:
        raise Failure("INVALID_INPUT", f"closes: {text!r} is no time") from None
    if closes.tzinfo is None:
        raise Failure("INVALID_INPUT", f"closes: {text!r} has no time zone")
    return closes


@tool("Pledge.Make", output=Made, effects=["internal_write"], idempotent_by_key_seconds=7 * DAY)
def make(given: Pledge, context):
    """Makes a pledge, unless the campaign is closed."""
    if not 1 <= given.cents <= 100_000_000:
        raise Failure("INVALID_INPUT", f"cents: {given.cents} is no amount of a pledge")
    now = datetime.now(timezone.utc)
    if now >= closing(given.closes):
        raise Failure("POLICY_DENIED", f"the campaign {given.campaign} is closed")
    entry = stored(context.external_key)
    if entry is None:
        entry = {
            "campaign": given.campaign[:80],
            "donor": given.donor[:80],
            "cents": given.cents,
            "made_at": now.isoformat(timespec="seconds"),
        }
        kv.set(place(context.external_key), json.dumps(entry))
    return output(context.external_key, entry)


@tool("Pledge.Show", output=Made, effects=["read_only"])
def show(given: Number, context):
    """Shows a pledge."""
    entry = stored(given.pledge)
    if entry is None:
        raise Failure("INVALID_INPUT", f"there is no pledge {given.pledge}")
    return output(given.pledge, entry).result
