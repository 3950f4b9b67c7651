import math
from dataclasses import dataclass

from latchwork import step


@dataclass
class Scores:
    groups: dict[str, list[float]]


@dataclass
class Means:
    means: dict[str, float]
    best: str


def mean(values):
    return math.fsum(values) / len(values) if values else math.nan


@step("Scores.Mean", determinism="pure")
def means(scores: Scores, context) -> Means:
    """Computes the mean of each group of scores."""
    found = {name: mean(values) for name, values in sorted(scores.groups.items())}
    known = [name for name, value in found.items() if not math.isnan(value)]
    return Means(found, max(known, key=lambda name: found[name], default=""))
