"""Changes of a peal of bells: draws the touches of a quarter peal from its date, and proves that no row is rung twice."""

import logging
import random
from dataclasses import dataclass
from functools import lru_cache

from latchwork import Failure, step

logger = logging.getLogger("ringing")


@dataclass
class Peal:
    tower: str
    date: str
    bells: int
    leads: int


@dataclass
class Rows:
    tower: str
    rows: list[str]
    truth: bool
    longest_tenor_rest: int
    handbells: list[str]


@lru_cache(maxsize=None)
def places(bells, start):
    """Pairs of places that change in a row: (0,1), (2,3), … from `start` on."""
    return tuple((at, at + 1) for at in range(start, bells - 1, 2))


def changed(row, start):
    bells = list(row)
    for one, other in places(len(row), start):
        bells[one], bells[other] = bells[other], bells[one]
    return tuple(bells)


def lead(row, call):
    """The rows of one lead of plain hunt, ending with a call: plain, bob or single."""
    rows = []
    for number in range(2 * len(row) - 1):
        row = changed(row, number % 2)
        rows.append(row)
    last = {"plain": 1, "bob": 2, "single": 3}[call]
    rows.append(changed(row, min(last, len(row) - 2)))
    return rows


def longest_rest(rows, bell):
    """Most rows in a row in which a bell stays behind its place in rounds."""
    longest = run = 0
    for row in rows:
        run = run + 1 if row.index(bell) != bell else 0
        longest = max(longest, run)
    return longest


@step("Peal.Compose", determinism="pure")
def compose(peal: Peal, context) -> Rows:
    """Composes the rows of a quarter peal, the same for every ringer who asks with the same date and tower."""
    if not 4 <= peal.bells <= 12:
        raise Failure("INVALID_INPUT", "a peal needs 4 to 12 bells")
    if not 1 <= peal.leads <= 60:
        raise Failure("INVALID_INPUT", "a quarter peal has 1 to 60 leads")
    logger.warning("composing %d leads for %s", peal.leads, peal.tower)
    # An own generator with a fixed seed: the calls are by chance, but equal for equal input.
    draw = random.Random(f"{len(peal.tower)}:{peal.tower}/{peal.date}/{peal.bells}")
    calls = draw.choices(["plain", "bob", "single"], weights=[6, 3, 1], k=peal.leads)
    row, rows = tuple(range(peal.bells)), []
    for call in calls:
        rows.extend(lead(row, call))
        row = rows[-1]
    names = "1234567890ET"
    texts = ["".join(names[bell] for bell in row) for row in rows]
    seen = set(texts)
    # The rows that stand in the little book of the handbells: sorted, because a set has no order.
    handbells = sorted(text for text in seen if text.startswith("12"))
    return Rows(peal.tower, texts, len(seen) == len(texts), longest_rest(rows, peal.bells - 1), handbells)
