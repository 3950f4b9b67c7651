"""Rents a shared pottery kiln: an hourly rate for each kiln, and quotes that customers can keep."""

import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, kv, tool

DAY = 24 * 60 * 60
MAX_CENTS = 1_000_000
# Minutes for heating up and cooling down, which are charged at half the rate.
IDLE = {"bisque": 180, "stoneware": 300, "raku": 45}


@dataclass
class Rate:
    kiln: str
    cents_per_hour: int


@dataclass
class Firing:
    kiln: str
    kind: str
    hours: int
    customer: str


@dataclass
class Quote:
    quote: str
    cents: int


def rate_key(kiln):
    if not kiln or len(kiln) > 50:
        raise Failure("INVALID_INPUT", "the name of a kiln has 1 to 50 characters")
    return f"rate of {kiln}"


def cost(firing, cents_per_hour):
    return firing.hours * cents_per_hour + IDLE[firing.kind] * cents_per_hour // 120


@tool("Kiln.SetRate", effects=["internal_write"])
def set_rate(rate: Rate, context) -> Rate:
    """Sets the hourly rate of a kiln."""
    if not 1 <= rate.cents_per_hour <= MAX_CENTS:
        raise Failure("INVALID_INPUT", f"a rate has 1 to {MAX_CENTS} cents")
    kv.set(rate_key(rate.kiln), str(rate.cents_per_hour))
    return rate


# A repetition writes the same entry again, because the entry has the key of the call.
@tool("Kiln.Quote", output=Quote, effects=["internal_write"], idempotent_by_key_seconds=DAY)
def quote(firing: Firing, context):
    """Makes a quote for a firing and keeps it under the key of the call."""
    key = context.external_key
    if firing.kind not in IDLE:
        raise Failure("INVALID_INPUT", f"{firing.kind} is none of {', '.join(sorted(IDLE))}")
    if not 1 <= firing.hours <= 72:
        raise Failure("INVALID_INPUT", "a firing takes 1 to 72 hours")
    if not firing.customer.strip() or len(firing.customer) > 200:
        raise Failure("INVALID_INPUT", "the name of a customer has 1 to 200 characters")
    rate = kv.get(rate_key(firing.kiln))
    if rate is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"the kiln {firing.kiln} has no rate")
    cents = cost(firing, int(rate))
    kept = {"customer": firing.customer, "kiln": firing.kiln, "kind": firing.kind, "hours": firing.hours, "cents": cents}
    kv.set(key, json.dumps(kept, sort_keys=True))
    return Output(Quote(key, cents), changes=[Change("quote", key, "create", version=str(cents))])
