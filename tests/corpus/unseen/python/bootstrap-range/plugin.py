import random
import statistics
from dataclasses import dataclass

from latchwork import Failure, step

ROUNDS = 200


@dataclass
class Sample:
    values: list[float]


@dataclass
class Range:
    mean: float
    low: float
    high: float


@step("Sample.Range", determinism="pure")
def estimate(sample: Sample, context) -> Range:
    """Estimates the mean of a sample and its range by resampling."""
    if not sample.values:
        raise Failure("INVALID_INPUT", "the sample is empty")
    means = sorted(
        statistics.fmean(random.choices(sample.values, k=len(sample.values))) for _ in range(ROUNDS)
    )
    low, high = means[ROUNDS // 20], means[-ROUNDS // 20]
    return Range(round(statistics.fmean(sample.values), 2), round(low, 1), round(high, 1))
