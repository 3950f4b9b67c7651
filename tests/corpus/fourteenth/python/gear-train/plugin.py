"""Computes the ratio of a train of gears, as a clockmaker lays it out."""

from dataclasses import dataclass
from fractions import Fraction

from latchwork import Failure, step


@dataclass
class Wheel:
    teeth: int
    module: float


@dataclass
class Pair:
    driver: Wheel
    driven: Wheel


@dataclass
class Train:
    pairs: list[Pair]
    rpm: float


@dataclass
class Stage:
    ratio: str
    distance_mm: float
    rpm: float


@dataclass
class Layout:
    stages: list[Stage]
    ratio: str
    turns_backwards: bool


class Gear:
    """A gear with the sizes that follow from its teeth and its module."""

    def __init__(self, wheel):
        self.teeth = wheel.teeth
        self.module = wheel.module

    @property
    def pitch_mm(self):
        return self.teeth * self.module

    def meshes_with(self, other):
        return abs(self.module - other.module) < 1e-9


@step("Gears.Lay")
def lay(train: Train, context) -> Layout:
    """Lays out a train of gears and computes its ratio."""
    if not train.pairs or len(train.pairs) > 12:
        raise Failure("INVALID_INPUT", "a train has 1 to 12 pairs of gears")
    if not 0 < train.rpm <= 1_000_000:
        raise Failure("INVALID_INPUT", f"a train cannot start with {train.rpm} turns in a minute")
    stages, total, rpm = [], Fraction(1), train.rpm
    for number, pair in enumerate(train.pairs, 1):
        driver, driven = Gear(pair.driver), Gear(pair.driven)
        for gear in (driver, driven):
            if not 6 <= gear.teeth <= 400 or not 0.1 <= gear.module <= 10:
                raise Failure("INVALID_INPUT", f"pair {number}: a gear has 6 to 400 teeth and a module of 0.1 to 10")
        if not driver.meshes_with(driven):
            raise Failure("INVALID_INPUT", f"pair {number}: {driver} does not mesh with {driven}")
        ratio = Fraction(driver.teeth, driven.teeth)
        total *= ratio
        rpm = rpm * ratio.numerator / ratio.denominator
        distance = (driver.pitch_mm + driven.pitch_mm) / 2
        stages.append(Stage(f"{ratio.numerator}:{ratio.denominator}", round(distance, 3), round(rpm, 4)))
    return Layout(stages, f"{total.numerator}:{total.denominator}", len(train.pairs) % 2 == 1)
