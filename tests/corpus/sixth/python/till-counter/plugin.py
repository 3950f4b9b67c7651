"""Gives each sale the next number of its till. A sale in progress keeps its number under the key of its call, so that a
repetition gets the same number."""

from dataclasses import dataclass

from latchwork import Change, Failure, Output, kv, tool


@dataclass
class Sale:
    till: str
    cents: int


@dataclass
class Numbered:
    number: int


def read(name):
    found = kv.get(name)
    return None if found is None else int(found)


@tool("Till.Number", output=Numbered, effects=["internal_write"], idempotent_by_key_seconds=86400)
def number(sale: Sale, context):
    """Gives a sale the next number of its till."""
    if not sale.till.isalnum() or len(sale.till) > 20:
        raise Failure("INVALID_INPUT", "the till has no valid name")
    begun = f"begun/{context.external_key}"
    mine = read(begun)
    if mine is None:
        mine = (read(f"last/{sale.till}") or 0) + 1
        kv.set(begun, str(mine))
    try:
        kv.set(f"sale/{sale.till}/{mine}", str(sale.cents))
        kv.set(f"last/{sale.till}", str(mine))
        kv.delete(begun)
    except Failure as failure:
        raise Failure(failure.code, str(failure), applied="unknown") from failure
    change = Change("sale", f"sale/{sale.till}/{mine}", "create", version=str(sale.cents))
    return Output(Numbered(mine), changes=[change])


@number.verify
def check(change):
    found = kv.get(change.resource_id)
    if found is None:
        return "the sale is missing"
    return True if found.decode() == change.version else "the sale has another amount"
