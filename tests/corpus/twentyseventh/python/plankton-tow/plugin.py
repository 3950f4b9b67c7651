"""Net tows of a research vessel: one record for each tow, under the key of the call that logged it."""

import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, happened, kv, log, tool

NETS = {"bongo": 0.2827, "multinet": 0.25, "ring": 0.7854}  # mouth, in square metres


@dataclass
class Tow:
    station: str
    net: str
    from_m: float
    to_m: float
    wire_speed: float
    counts: dict[str, int]


@dataclass
class Logged:
    record: str
    volume_m3: float
    individuals: int


@dataclass
class Wanted:
    record: str


def stored(name):
    """Returns a stored record, or None if there is none."""
    try:
        return json.loads(kv.get(f"tow/{name}"))
    except Exception as error:
        log.debug("no record %s: %s", name, error)
        return None


def volume(tow):
    return round(abs(tow.from_m - tow.to_m) * NETS[tow.net], 3)


def logged(tow, key):
    answer = Logged(key, volume(tow), sum(tow.counts.values()))
    return Output(answer, receipt={"record": key}, changes=[Change("tow", key, "log")])


@tool("Tow.Log", effects=["internal_write"])
def enter(tow: Tow, context) -> Logged:
    """Logs a net tow with the counts of its catch."""
    if tow.net not in NETS:
        raise Failure("INVALID_INPUT", f"no net is called {tow.net}: use one of {', '.join(sorted(NETS))}")
    if tow.from_m == tow.to_m:
        raise Failure("INVALID_INPUT", "the tow begins and ends at the same depth")
    if any(count < 0 for count in tow.counts.values()):
        raise Failure("INVALID_INPUT", "a count is negative")
    if tow.wire_speed > 2.0:
        log.warn("station %s: %.1f m/s is fast for a %s net", tow.station, tow.wire_speed, tow.net)
    record = {
        "station": tow.station,
        "net": tow.net,
        "depths": [tow.from_m, tow.to_m],
        "volume_m3": volume(tow),
        "counts": tow.counts,
    }
    kv.set(f"tow/{context.external_key}", json.dumps(record, sort_keys=True))
    return logged(tow, context.external_key)


@enter.reconcile
def find(tow: Tow, key):
    return "did_not_happen" if stored(key) is None else happened(logged(tow, key))


@tool("Tow.Density")
def density(wanted: Wanted, context) -> dict[str, float]:
    """Returns the individuals of each species in a cubic metre."""
    record = stored(wanted.record)
    if record is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"there is no tow {wanted.record}")
    return {name: round(count / record["volume_m3"], 4) for name, count in sorted(record["counts"].items())}
