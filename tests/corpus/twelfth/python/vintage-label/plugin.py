"""Writes the shelf label of a bottle of wine: its age, and whether it is ready to drink."""

from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from latchwork import Failure, step

# Years after the harvest in which a wine is at its best: from, until.
WINDOW = {
    "sparkling": (3, 8),
    "white": (1, 4),
    "orange": (2, 7),
    "red": (4, 15),
    "fortified": (10, 60),
}


@dataclass
class Bottle:
    estate: str
    colour: Literal["sparkling", "white", "orange", "red", "fortified"]
    vintage: int
    as_of: int = field(default_factory=lambda: date.today().year)
    magnum: bool = False


@dataclass
class Label:
    title: str
    age: str
    advice: Literal["keep", "drink", "drink soon", "past its best"]
    best_until: int


def years(count):
    return "of this year" if count == 0 else "1 year old" if count == 1 else f"{count} years old"


def advice(age, first, last):
    if age < first:
        return "keep"
    if age > last:
        return "past its best"
    # The last fifth of the window, at least one year.
    return "drink soon" if last - age < max(1, (last - first) // 5) else "drink"


@step("Bottle.Label")
def label(bottle: Bottle, context) -> Label:
    """Writes the label of a bottle."""
    if not bottle.estate.strip():
        raise Failure("INVALID_INPUT", "the estate has no name")
    if not 1800 <= bottle.vintage <= 2200:
        raise Failure("INVALID_INPUT", f"{bottle.vintage} is no vintage")
    if not bottle.vintage <= bottle.as_of <= 2400:
        raise Failure("INVALID_INPUT", f"in {bottle.as_of} there is no label for a wine of {bottle.vintage}")
    first, last = WINDOW[bottle.colour]
    if bottle.magnum:
        # A large bottle ages more slowly.
        first, last = first + 1, last + last // 2
    age = bottle.as_of - bottle.vintage
    size = " (magnum)" if bottle.magnum else ""
    return Label(
        title=f"{bottle.estate.strip()} {bottle.vintage}{size}",
        age=years(age),
        advice=advice(age, first, last),
        best_until=bottle.vintage + last,
    )
