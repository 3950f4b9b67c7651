"""Reads the refractometer sheet of a sugar house and grades the syrup of each tank."""

import re
from dataclasses import dataclass

from latchwork import Failure, step

FINISHED = 66.0
MAX_LINES = 500


@dataclass
class Sheet:
    """A sheet as it is typed: one tank on a line, `tank 3: 64.5 65,1 66`."""

    text: str


@dataclass
class Tank:
    tank: str
    readings: int
    lowest: float
    mean: float
    finished: bool


@dataclass
class Grades:
    tanks: list[Tank]
    finished: int


def reading(tank, text):
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        raise Failure("INVALID_INPUT", f"{tank}: {text!r} is not a number") from None
    if value < 0 or value > 100:
        raise Failure("INVALID_INPUT", f"{tank}: {text} is not in degrees Brix")
    return value


def parse(text):
    tanks = {}
    for line in text.splitlines()[:MAX_LINES]:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        tank, colon, values = line.partition(":")
        tank = tank.strip().lower()
        if not tank or not colon:
            raise Failure("INVALID_INPUT", f"cannot read the line {line.strip()!r}")
        tanks.setdefault(tank, []).extend(reading(tank, part) for part in re.split(r"[\s;]+", values) if part)
    return tanks


@step("Syrup.Grade")
def grade(sheet: Sheet, context) -> Grades:
    """Grades the tanks of a refractometer sheet."""
    tanks = []
    for name, values in sorted(parse(sheet.text).items()):
        if not values:
            raise Failure("INVALID_INPUT", f"{name} has no readings")
        mean = sum(values) / len(values)
        tanks.append(Tank(name, len(values), min(values), round(mean, 2), mean >= FINISHED))
    if not tanks:
        raise Failure("INVALID_INPUT", "the sheet is empty")
    return Grades(tanks, sum(tank.finished for tank in tanks))
