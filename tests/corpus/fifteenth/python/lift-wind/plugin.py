from dataclasses import dataclass
from typing import Literal

from latchwork import Failure, log, step, tools

# Wind in kilometers per hour at which a lift runs slowly, and at which it stops.
LIMITS = {"gondola": (60, 85), "chair": (45, 65), "drag": (70, 90)}

BUSY = ("NETWORK_TIMEOUT", "RATE_LIMIT", "TEMPORARY_PROVIDER_ERROR", "TRANSIENT_DB_LOCK", "DEPENDENCY_UNAVAILABLE")


@dataclass
class Lift:
    name: str
    kind: Literal["gondola", "chair", "drag"]
    masts: list[str]


@dataclass
class Ruling:
    lift: str
    state: str
    worst_mast: str
    gust: float


def gust(mast):
    """Reads the strongest gust at a mast. The radio link of a mast is often disturbed for a moment."""
    while True:
        try:
            return tools.call("Mast.Wind", {"mast": mast, "minutes": 10})["gust"]
        except Failure as failure:
            if failure.code not in BUSY:
                raise
            log.warn("mast %s does not answer: %s", mast, failure.code)


@step("Lift.Rule", determinism="external")
def rule(lift: Lift, context) -> Ruling:
    """Decides from the wind at its masts if a lift may run."""
    if not lift.masts:
        raise Failure("INVALID_INPUT", f"{lift.name} has no masts with a wind gauge")
    readings = [(gust(mast), mast) for mast in sorted(set(lift.masts))]
    strongest, mast = max(readings)
    slow, stop = LIMITS[lift.kind]
    state = "stop" if strongest >= stop else "slow" if strongest >= slow else "run"
    return Ruling(lift.name, state, mast, round(strongest, 1))
