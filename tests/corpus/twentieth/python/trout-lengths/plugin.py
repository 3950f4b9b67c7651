"""Sums up the lengths of the trout that a survey caught."""

import statistics
from dataclasses import dataclass
from typing import Optional

from latchwork import Failure, log, step

LEGAL_MM = 250
LONGEST_MM = 1200


@dataclass
class Catch:
    reach: str
    species: str
    length_mm: int


@dataclass
class Survey:
    river: str
    catches: list[Catch]


@dataclass
class Reach:
    reach: str
    count: int
    median_mm: int
    longest_mm: int
    legal_percent: float


@dataclass
class Summary:
    river: str
    reaches: list[Reach]
    best_reach: Optional[str]


def by_reach(catches):
    """Groups the lengths of the trout by reach. Other fish are left out."""
    lengths = {}
    for fish in catches:
        if not 0 < fish.length_mm <= LONGEST_MM:
            raise Failure("INVALID_INPUT", f"a fish in {fish.reach} has a length of {fish.length_mm} mm")
        if fish.species.strip().lower() in ("trout", "brown trout", "sea trout"):
            lengths.setdefault(fish.reach, []).append(fish.length_mm)
    return lengths


def summed(reach, lengths):
    legal = sum(1 for length in lengths if length >= LEGAL_MM)
    return Reach(
        reach=reach,
        count=len(lengths),
        median_mm=statistics.median(lengths),
        longest_mm=max(lengths),
        legal_percent=round(100 * legal / len(lengths), 1),
    )


@step("Trout.Summarize")
def summarize(survey: Survey, context) -> Summary:
    """Sums up the lengths of trout by the reaches of a river."""
    if not survey.catches:
        raise Failure("INVALID_INPUT", f"the survey of {survey.river} has no catch")
    lengths = by_reach(survey.catches)
    reaches = [summed(reach, lengths[reach]) for reach in sorted(lengths)]
    best = max(reaches, key=lambda one: (one.legal_percent, one.count, one.reach), default=None)
    log.info("%s: %d reaches with trout", survey.river, len(reaches))
    return Summary(survey.river, reaches, best.reach if best else None)
