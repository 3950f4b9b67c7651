import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, kv, tool

WEEK = 7 * 24 * 60 * 60
LOAVES = {"rye": 40, "wheat": 60, "spelt": 30}


@dataclass
class Bake:
    bread: str
    loaves: int


@dataclass
class Which:
    order: str


@dataclass
class State:
    order: str
    state: str


def load(order):
    text = kv.get(f"order/{order}")
    return None if text is None else json.loads(text)


def output(order, operation, state):
    return Output(State(order, state), changes=[Change("order", order, operation, version=state)])


def compare(change):
    entry = load(change.resource_id)
    if entry is None:
        return "the order is missing"
    return True if entry["state"] == change.version else f"the order is {entry['state']}"


@tool("Oven.Order", output=State, effects=["internal_write"], idempotent_by_key_seconds=WEEK)
def order(bake: Bake, context):
    """Orders a bake of the wood oven."""
    if bake.bread not in LOAVES:
        raise Failure("INVALID_INPUT", f"the oven does not bake {bake.bread}")
    if not 1 <= bake.loaves <= LOAVES[bake.bread]:
        raise Failure("INVALID_INPUT", f"the oven has room for {LOAVES[bake.bread]} loaves of {bake.bread}")
    key = context.external_key
    entry = load(key)
    # An order that is known keeps its state, also if it was cancelled.
    if entry is None:
        entry = {"bread": bake.bread, "loaves": bake.loaves, "state": "open"}
        kv.set(f"order/{key}", json.dumps(entry))
    return output(key, "create", entry["state"])


@order.verify
def check_order(change):
    return compare(change)


@tool("Oven.Cancel", output=State, effects=["internal_write"], idempotent_by_key_seconds=WEEK)
def cancel(which: Which, context):
    """Cancels a bake. The cancelled order stays in the book."""
    entry = load(which.order)
    if entry is None:
        raise Failure("INVALID_INPUT", f"there is no order {which.order}")
    if entry["state"] == "open":
        entry["state"] = "cancelled"
        kv.set(f"order/{which.order}", json.dumps(entry))
    return output(which.order, "cancel", "cancelled")


@cancel.verify
def check_cancel(change):
    return compare(change)
