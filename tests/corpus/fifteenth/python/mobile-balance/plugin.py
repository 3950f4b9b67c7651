from dataclasses import dataclass
from typing import Any

from latchwork import Failure, step

# Largest weight in grams of one piece, and largest length in millimeters of one arm.
LARGEST = 100_000

# Weight of a wire in milligrams by its length, computed at first use in a run.
wires = {}


@dataclass
class Mobile:
    """A hanging sculpture. A piece has a weight and a color, or it is a beam with two arms and two pieces."""

    name: str
    top: Any


@dataclass
class Report:
    name: str
    milligrams: int
    beams: int
    colors: list[str]
    crooked: list[str]


def wire(length):
    """Returns the weight of a wire: 2 milligrams for each millimeter, and a hook at each end."""
    if length not in wires:
        wires[length] = 2 * length + 2 * 150
    return wires[length]


def whole(piece, key, place):
    """Reads a whole number between 1 and the largest."""
    value = piece.get(key)
    if type(value) is not int or not 1 <= value <= LARGEST:
        raise Failure("INVALID_INPUT", f"{key} at {place} must be a whole number from 1 to {LARGEST}")
    return value


def weigh(piece, place, report):
    """Returns the weight of a piece. The input has at most 64 levels, and so has this recursion."""
    if not isinstance(piece, dict):
        raise Failure("INVALID_INPUT", f"the piece at {place} must be an object")
    if "weight" in piece:
        color = piece.get("color", "bare")
        if not isinstance(color, str):
            raise Failure("INVALID_INPUT", f"the color at {place} must be a text")
        report["colors"].add(color.strip().lower())
        return whole(piece, "weight", place) * 1000
    left_arm, right_arm = whole(piece, "left_arm", place), whole(piece, "right_arm", place)
    left = weigh(piece.get("left"), f"{place}/left", report)
    right = weigh(piece.get("right"), f"{place}/right", report)
    report["beams"] += 1
    # A beam hangs straight if the moments of its two sides differ by at most two percent.
    moments = sorted((left * left_arm, right * right_arm))
    if (moments[1] - moments[0]) * 50 > moments[1]:
        report["crooked"].append(place)
    return left + right + wire(left_arm + right_arm)


@step("Mobile.Balance")
def balance(mobile: Mobile, context) -> Report:
    """Weighs a mobile and lists the beams that hang crooked."""
    report = {"colors": set(), "beams": 0, "crooked": []}
    total = weigh(mobile.top, "top", report)
    return Report(mobile.name, total, report["beams"], sorted(report["colors"]), sorted(report["crooked"]))
