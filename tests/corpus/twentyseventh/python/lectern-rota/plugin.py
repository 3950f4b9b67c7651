"""Draws who reads on which Sunday. The draw follows from parish and year, so that everybody can repeat it."""

import random
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

from latchwork import Failure, log, step


@dataclass
class Reader:
    name: str
    away: list[str]


@dataclass
class Wish:
    parish: str
    year: int
    readers: list[Reader]
    first: int = 1
    last: int = 12


@dataclass
class Turn:
    day: str
    reader: str


@dataclass
class Rota:
    turns: list[Turn]
    unfilled: list[str]


@lru_cache(maxsize=None)
def sundays(year, month):
    """Returns the Sundays of a month."""
    day = date(year, month, 1)
    day += timedelta(days=(6 - day.weekday()) % 7)
    found = []
    while day.month == month:
        found.append(day)
        day += timedelta(days=7)
    return tuple(found)


def absences(readers):
    try:
        return {reader.name: {date.fromisoformat(day) for day in reader.away} for reader in readers}
    except ValueError:
        raise Failure("INVALID_INPUT", "a reader is away on a day that the calendar does not have") from None


@step("Rota.Draw")
def draw(wish: Wish, context) -> Rota:
    """Draws the readers of the Sundays from one month to another."""
    if not (1 <= wish.first <= wish.last <= 12 and 1900 <= wish.year <= 2200):
        raise Failure("INVALID_INPUT", "these are no months of a year")
    away = absences(wish.readers)
    if len(away) < len(wish.readers):
        raise Failure("INVALID_INPUT", "two readers have one name")
    # Seeded with a text, the generator gives the same numbers in every job and in every build.
    chance = random.Random(f"{wish.parish}/{wish.year}")
    turns = {name: 0 for name in sorted(away)}
    rota = Rota([], [])
    for month in range(wish.first, wish.last + 1):
        for day in sundays(wish.year, month):
            here = {name for name in turns if day not in away[name]}
            if not here:
                rota.unfilled.append(day.isoformat())
                continue
            fewest = min(turns[name] for name in here)
            # A set has no order that may be seen: sorted before the draw.
            reader = chance.choice(sorted(name for name in here if turns[name] == fewest))
            turns[reader] += 1
            rota.turns.append(Turn(day.isoformat(), reader))
    log.info("%s %d: %d turns, %d unfilled", wish.parish, wish.year, len(rota.turns), len(rota.unfilled))
    return rota
