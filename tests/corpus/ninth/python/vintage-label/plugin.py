"""Composes the front label of a wine bottle."""

from dataclasses import dataclass
from datetime import date
from typing import Optional

from latchwork import Failure, step

SUGAR = ((4, "dry"), (12, "medium dry"), (45, "medium sweet"))


@dataclass
class Wine:
    estate: str
    grape: str
    sugar: float
    alcohol: float
    year: Optional[int] = None


@dataclass
class Label:
    lines: list[str]
    lot: str


def taste(sugar):
    for limit, name in SUGAR:
        if sugar <= limit:
            return name
    return "sweet"


@step("Label.Compose")
def compose(wine: Wine, context) -> Label:
    """Composes the front label of a wine bottle."""
    if not wine.estate.strip() or not wine.grape.strip():
        raise Failure("INVALID_INPUT", "a label names an estate and a grape")
    if not 0 <= wine.sugar <= 500 or not 4 <= wine.alcohol <= 22:
        raise Failure("INVALID_INPUT", "sugar is at most 500 g/l, and alcohol is between 4 and 22 %")
    # Without a year it is the wine of the last harvest.
    year = wine.year or date.today().year - 1
    lines = [wine.estate.upper(), f"{wine.grape} {year}", taste(wine.sugar), f"{wine.alcohol:.1f} % vol"]
    initials = "".join(word[0] for word in wine.estate.split())
    return Label(lines, f"L{year % 100:02}{initials.upper()}{wine.grape[:3].upper()}")
