"""Picks the lens of a rental shop for a photo shoot."""

from dataclasses import dataclass

from latchwork import Failure, step


@dataclass
class Lens:
    name: str
    shortest: int
    longest: int
    aperture: float
    cents: int


@dataclass
class Shoot:
    shortest: int
    longest: int
    aperture: float
    lenses: list[Lens]


@dataclass
class Pick:
    lens: str
    cents: int
    others: list[str]


def covers(lens, shoot):
    return lens.shortest <= shoot.shortest and lens.longest >= shoot.longest and lens.aperture <= shoot.aperture


@step("Lens.Pick")
def pick(shoot: Shoot, context) -> Pick:
    """Picks the cheapest lens that covers a shoot."""
    if shoot.shortest > shoot.longest:
        raise Failure("INVALID_INPUT", "the shortest focal length is larger than the longest")
    if not shoot.lenses:
        raise Failure("INVALID_INPUT", "there are no lenses")
    by_price = sorted(shoot.lenses, key=lambda lens: (lens.cents, lens.name))
    best = next((lens.name for lens in by_price if covers(lens, shoot)), None)
    cents = sum(lens.cents for lens in by_price if lens.name == best)
    return Pick(best, cents, [lens.name for lens in by_price if lens.name != best and covers(lens, shoot)])
