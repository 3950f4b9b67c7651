from dataclasses import dataclass
from typing import Literal

from latchwork import Failure, log, step, tools

# Minutes of work for a wreath of one meter, by the way in which it is bound.
MINUTES = {"wired": 55, "woven": 80, "foam": 35}
CENTS_PER_MINUTE = 70


@dataclass
class Stem:
    flower: str
    count: int


@dataclass
class Wreath:
    diameter_cm: int
    binding: Literal["wired", "woven", "foam"]
    stems: list[Stem]


@dataclass
class Quote:
    lines: list[str]
    material_cents: int
    labor_cents: int
    total_cents: int


def euros(cents):
    return f"{cents // 100}.{cents % 100:02d}"


@step("Wreath.Quote")
def quote(wreath: Wreath, context) -> Quote:
    """Makes the quote of a florist for a wreath."""
    if not 20 <= wreath.diameter_cm <= 200:
        raise Failure("INVALID_INPUT", f"a wreath has 20 to 200 centimeters, not {wreath.diameter_cm}")
    if not wreath.stems or any(stem.count < 1 for stem in wreath.stems):
        raise Failure("INVALID_INPUT", "a wreath needs at least one stem of each flower")
    log.info("quote for a wreath of %d cm, asked by %s", wreath.diameter_cm, context.actor)
    lines, material = [], 0
    for stem in wreath.stems:
        # The price list is part of the configuration of its tool.
        price = tools.call("Florist.Price", {"flower": stem.flower})["cents"]
        cost = price * stem.count
        material += cost
        lines.append(f"{stem.count} x {stem.flower}: {euros(cost)}")
    labor = MINUTES[wreath.binding] * CENTS_PER_MINUTE * wreath.diameter_cm // 100
    # Ten percent of the material is spoiled.
    material += -(-material // 10)
    return Quote(lines, material, labor, material + labor)
