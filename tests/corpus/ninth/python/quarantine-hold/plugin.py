"""Puts a batch of plants into quarantine."""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from latchwork import Change, Failure, Output, happened, kv, tool


@dataclass
class Order:
    batch: str
    days: int


@dataclass
class Hold:
    reference: str
    until: str
    days_left: int


def hold(key, until, days_left):
    return Output(Hold(key, until, days_left), changes=[Change("quarantine", key, "create", version=until)])


@tool("Quarantine.Begin", output=Hold, effects=["internal_write"])
def begin(order: Order, context):
    """Puts a batch of plants into quarantine."""
    if not order.batch.strip() or len(order.batch) > 100 or not 1 <= order.days <= 90:
        raise Failure("INVALID_INPUT", "a quarantine has a batch and takes 1 to 90 days")
    until = (datetime.now(timezone.utc) + timedelta(days=order.days)).isoformat()
    kv.set(context.external_key, json.dumps({"batch": order.batch, "until": until}))
    return hold(context.external_key, until, order.days)


@begin.reconcile
def find(order: Order, key):
    stored = kv.get(key)
    if stored is None:
        return "did_not_happen"
    until = json.loads(stored)["until"]
    left = datetime.fromisoformat(until) - datetime.now(timezone.utc)
    return happened(hold(key, until, max(left.days, 0)))


@begin.verify
def check(change):
    stored = kv.get(change.resource_id)
    if stored is None:
        return "the quarantine is missing"
    until = json.loads(stored)["until"]
    return True if until == change.version else f"the quarantine lasts until {until}"
