"""Direction of a lightning stroke from the bearings of several receivers."""

import functools
import math
from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import Failure, events, log, step, tools

ROUNDS = 3
POINTS = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")


@dataclass
class Stroke:
    stroke: str
    receivers: list[str]


@dataclass
class Fix:
    stroke: str
    bearing: float
    point: str
    heard_by: list[str]
    silent: list[str]
    fixed_at: str


@functools.cache
def unit(bearing):
    angle = math.radians(bearing)
    return math.sin(angle), math.cos(angle)


def bearing_of(answer):
    """Returns a bearing in degrees, or None if the answer has none."""
    value = answer.get("bearing") if isinstance(answer, dict) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 360:
        return None
    return float(value)


@step("Lightning.Fix", determinism="external")
def fix(stroke: Stroke, context) -> Fix:
    """Asks the receivers for their bearings and takes the mean direction."""
    waiting = set(stroke.receivers)
    if not 2 <= len(waiting) <= 8:
        raise Failure("INVALID_INPUT", "expected 2 to 8 different receivers")
    heard = {}
    for _ in range(ROUNDS):
        asked = sorted(waiting)
        answers = tools.call_all([("Receiver.Bearing", {"receiver": name, "stroke": stroke.stroke}) for name in asked])
        for name, answer in zip(asked, answers):
            if isinstance(answer, Failure):
                log.warn("%s in job %s: %s", name, context.job_id, answer.message)
                continue
            bearing = bearing_of(answer)
            waiting.discard(name)
            if bearing is not None:
                heard[name] = bearing
        if not waiting:
            break
    if len(heard) < 2:
        raise Failure("DEPENDENCY_UNAVAILABLE", f"only {len(heard)} receivers gave a bearing")
    units = [unit(heard[name]) for name in sorted(heard)]
    east, north = (math.fsum(part) for part in zip(*units))
    if math.hypot(east, north) < 1e-6:
        raise Failure("INVALID_INPUT", "the bearings cancel each other out")
    bearing = round(math.degrees(math.atan2(east, north)) % 360, 1) % 360
    point = POINTS[round(bearing / 45) % 8]
    events.emit("lightning.fixed", {"stroke": stroke.stroke, "point": point})
    silent = sorted(set(stroke.receivers) - heard.keys())
    return Fix(stroke.stroke, bearing, point, sorted(heard), silent, datetime.now(timezone.utc).isoformat())
