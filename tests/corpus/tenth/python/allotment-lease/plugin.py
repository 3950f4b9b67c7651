import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, happened, kv, tool


@dataclass
class Lease:
    plot: int
    gardener: str
    until: str


@dataclass
class Leased:
    plot: int
    gardener: str


def entry(plot):
    return f"plot-{plot}"


def leased(lease, key):
    change = Change("plot", entry(lease.plot), "update", version=key)
    return Output(Leased(lease.plot, lease.gardener), changes=[change])


# The newest lease of a plot counts. The office decides who gets it.
@tool("Allotment.Lease", output=Leased, effects=["internal_write"])
def give(lease: Lease, context):
    """Enters the gardener of a plot."""
    if not 1 <= lease.plot <= 400:
        raise Failure("INVALID_INPUT", f"there is no plot {lease.plot}")
    if not lease.gardener.strip() or len(lease.gardener) > 200 or len(lease.until) > 40:
        raise Failure("INVALID_INPUT", "a lease has a gardener and an end")
    key = context.external_key
    value = {"gardener": lease.gardener, "until": lease.until, "call": key}
    kv.set(entry(lease.plot), json.dumps(value))
    return leased(lease, key)


@give.reconcile
def find(lease: Lease, key):
    found = kv.get(entry(lease.plot))
    if found is None:
        return "did_not_happen"
    # Another lease can be older or newer than this call.
    return happened(leased(lease, key)) if json.loads(found)["call"] == key else "unknown"


@give.verify
def check(change):
    found = kv.get(change.resource_id)
    return True if found else f"{change.resource_id} has no lease"
