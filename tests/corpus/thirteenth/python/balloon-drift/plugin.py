"""Estimates how far a weather balloon drifts, from the winds at several altitudes."""

import math
from dataclasses import dataclass

from latchwork import Failure, log, step, tools

MAX_LEVELS = 40
FASTEST = 150  # m/s, faster than any jet stream


@dataclass
class Launch:
    """A launch: `levels` are altitudes in metres, `climb` is the speed of ascent in m/s."""

    site: str
    climb: int
    levels: list[int]


@dataclass
class Leg:
    top: int
    minutes: float
    east_km: float
    north_km: float


@dataclass
class Drift:
    legs: list[Leg]
    distance_km: float
    bearing: int


def check(launch):
    if not 1 <= launch.climb <= 15:
        raise Failure("INVALID_INPUT", f"a balloon does not climb at {launch.climb} m/s")
    if not launch.levels or len(launch.levels) > MAX_LEVELS:
        raise Failure("INVALID_INPUT", f"{len(launch.levels)} levels: give 1 to {MAX_LEVELS}")
    if min(launch.levels) <= 0 or max(launch.levels) > 45_000:
        raise Failure("INVALID_INPUT", "levels must be between 0 and 45,000 m")


@step("Balloon.Drift", determinism="external")
def drift(launch: Launch, context) -> Drift:
    """Estimates the drift of a balloon."""
    check(launch)
    levels = sorted(set(launch.levels))
    winds = tools.call_all([("Wind.Aloft", {"site": launch.site, "altitude": level}) for level in levels])

    legs, below, east, north = [], 0, 0.0, 0.0
    for level, wind in zip(levels, winds):
        u, v = float(wind["east"]), float(wind["north"])
        if math.hypot(u, v) > FASTEST:
            raise Failure("DEPENDENCY_UNAVAILABLE", f"the wind at {level} m cannot be right")
        seconds = (level - below) / launch.climb
        leg = Leg(level, round(seconds / 60, 1), round(u * seconds / 1000, 2), round(v * seconds / 1000, 2))
        east += leg.east_km
        north += leg.north_km
        legs.append(leg)
        below = level

    bearing = round(math.degrees(math.atan2(east, north))) % 360
    distance = round(math.hypot(east, north), 1)
    log.info("%s: %.1f km towards %d", launch.site, distance, bearing)
    return Drift(legs, distance, bearing)
