import json
from dataclasses import dataclass
from typing import Optional

from latchwork import Change, Failure, Output, kv, tool


@dataclass
class Override:
    article: str
    cents: int


@dataclass
class Overridden:
    article: str
    before: Optional[int]


def entry_of(article):
    text = kv.get(f"price/{article}")
    return None if text is None else json.loads(text)


@tool("Price.Override", effects=["internal_write"])
def override(wanted: Override, context) -> Overridden:
    """Sets the price of an article until the next price list."""
    if not 0 < len(wanted.article) <= 60 or wanted.cents < 0:
        raise Failure("INVALID_INPUT", "an article and a price are required")
    before = entry_of(wanted.article)
    entry = {"cents": wanted.cents, "by": context.external_key}
    kv.set(f"price/{wanted.article}", json.dumps(entry))
    change = Change("price", wanted.article, "replace", version=context.external_key)
    return Output(Overridden(wanted.article, before["cents"] if before else None), changes=[change])


@override.compensate
def cancel(wanted: Override, result, key):
    entry = entry_of(wanted.article)
    if entry is None or entry["by"] != key:
        raise Failure("POLICY_DENIED", f"the price of {wanted.article} was changed since")
    kv.delete(f"price/{wanted.article}")
    return Output(None, changes=[Change("price", wanted.article, "delete", version=key)])
