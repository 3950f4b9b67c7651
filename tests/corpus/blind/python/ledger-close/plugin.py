import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, happened, kv, tool


@dataclass
class Month:
    month: str
    cents: int


@dataclass
class Closed:
    month: str
    entry: str


def closed(month, key):
    return Output(Closed(month, f"closed/{key}"), changes=[Change("closing", f"closed/{key}", "create")])


@tool("LedgerClose.Close", output=Closed, effects=["internal_write"])
def close(month: Month, context):
    """Closes the month of a ledger."""
    if len(month.month) != 7:
        raise Failure("INVALID_INPUT", f"{month.month} is not a month such as 2026-01")
    key = context.external_key
    entry = json.dumps({"month": month.month, "cents": month.cents})
    kv.set(f"draft/{key}", entry)
    try:
        kv.set(f"closed/{key}", entry)
        kv.delete(f"draft/{key}")
    except Failure as failure:
        raise Failure("DEPENDENCY_UNAVAILABLE", str(failure), applied="unknown") from failure
    return closed(month.month, key)


@close.reconcile
def find(month: Month, key):
    if kv.get(f"closed/{key}") is not None:
        return happened(closed(month.month, key))
    # A draft is read by no other program. The next try writes it again.
    if kv.get(f"draft/{key}") is not None:
        kv.delete(f"draft/{key}")
    return "did_not_happen"
