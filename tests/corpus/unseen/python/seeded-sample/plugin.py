import random
from dataclasses import dataclass

from latchwork import Failure, step


@dataclass
class Survey:
    survey: str
    people: list[str]
    size: int


@dataclass
class Sample:
    people: list[str]
    weights: list[float]


@step("Survey.Sample", determinism="pure")
def sample(survey: Survey, context) -> Sample:
    """Draws the same sample for the same survey and people."""
    people = sorted(set(survey.people))
    if not 0 < survey.size <= len(people):
        raise Failure("INVALID_INPUT", "the sample is larger than the group")
    generator = random.Random(f"{survey.survey}/{'/'.join(people)}")
    drawn = generator.sample(people, survey.size)
    return Sample(drawn, [generator.gauss(1.0, 0.25) for _ in drawn])
