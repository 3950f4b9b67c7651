import json
import secrets as random_source
from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import Failure, Output, happened, kv, tool


@dataclass
class Pledge:
    donor: str
    cause: str
    cents: int


@dataclass
class Card:
    card: str
    code: str
    pledged_at: str


def card_of(key, entry):
    card = Card(key, entry["code"], entry["pledged_at"])
    return Output(card, receipt={"card": key, "code": entry["code"]})


@tool("Pledge.Keep", output=Card, effects=["internal_write"])
def keep(pledge: Pledge, context):
    """Keeps the pledge of a donor, and returns the code for the pledge card."""
    if not pledge.donor.strip() or not pledge.cause.strip():
        raise Failure("INVALID_INPUT", "a pledge names a donor and a cause")
    if len(pledge.donor) > 200 or len(pledge.cause) > 200:
        raise Failure("INVALID_INPUT", "names have at most 200 characters")
    if pledge.cents < 100:
        raise Failure("INVALID_INPUT", "a pledge has at least 100 cents")
    entry = {
        "donor": pledge.donor.strip(),
        "cause": pledge.cause.strip(),
        "cents": pledge.cents,
        "code": random_source.token_hex(4),
        "pledged_at": datetime.now(timezone.utc).isoformat(),
    }
    kv.set(f"pledge/{context.external_key}", json.dumps(entry))
    return card_of(context.external_key, entry)


@keep.reconcile
def find(pledge: Pledge, key):
    """Returns the card with the code and the time that were kept."""
    text = kv.get(f"pledge/{key}")
    if text is None:
        return "did_not_happen"
    try:
        entry = json.loads(text)
    except ValueError:
        return "unknown"
    return happened(card_of(key, entry))


@keep.compensate
def withdraw(pledge: Pledge, result, key):
    """Removes the pledge."""
    text = kv.get(f"pledge/{key}")
    if text is None or json.loads(text)["code"] != result.code:
        raise Failure("POLICY_DENIED", "the pledge is missing or was changed", applied="no")
    if not kv.delete(f"pledge/{key}"):
        raise Failure("POLICY_DENIED", "the pledge was removed in the meantime", applied="no")
    return Output({"card": key, "withdrawn": True})
