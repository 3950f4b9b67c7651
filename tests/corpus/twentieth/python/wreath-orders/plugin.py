"""Takes orders for wreaths in a flower shop."""

import json
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import Literal

from latchwork import Change, Failure, Output, kv, tool

CENTS = {"fir": 3200, "holly": 3900, "ivy": 2800}
WINDOW = 14 * 24 * 60 * 60


@dataclass
class Order:
    kind: Literal["fir", "holly", "ivy"]
    pieces: int
    ribbon: str


@dataclass
class Taken:
    entry: str
    cents: int
    taken_at: str


def name_of(key):
    return f"wreath/{key}"


def stored(entry):
    found = kv.get(entry)
    return None if found is None else Taken(**json.loads(found))


@tool("Wreath.Order", output=Taken, effects=["internal_write"], idempotent_by_key_seconds=WINDOW)
def order(order: Order, context):
    """Takes an order for wreaths, with the time of the order."""
    entry = name_of(context.external_key)
    earlier = stored(entry)
    if earlier is not None:
        return earlier
    if not 1 <= order.pieces <= 50:
        raise Failure("INVALID_INPUT", f"an order has 1 to 50 wreaths, not {order.pieces}")
    if len(order.ribbon) > 60:
        raise Failure("INVALID_INPUT", "the text of a ribbon has at most 60 characters")
    made = Taken(entry, CENTS[order.kind] * order.pieces, datetime.now(timezone.utc).isoformat())
    kv.set(entry, json.dumps(asdict(made)))
    return Output(
        made,
        receipt={"entry": entry, "ribbon": order.ribbon},
        changes=[Change("wreath-order", entry, "create", version=made.taken_at)],
    )


@order.verify
def check(change):
    found = stored(change.resource_id)
    if found is None:
        return "the order is not in the book"
    return True if found.taken_at == change.version else f"the order was taken at {found.taken_at}"


@order.compensate
def cancel(order: Order, result: Taken, key):
    found = stored(name_of(key))
    if found is None or found.taken_at != result.taken_at:
        raise Failure("POLICY_DENIED", "the order was changed or removed")
    if not kv.delete(name_of(key)):
        raise Failure("POLICY_DENIED", "the order was removed")
    return Output(None, changes=[Change("wreath-order", name_of(key), "delete")])
