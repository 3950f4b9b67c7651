from dataclasses import dataclass

from latchwork import Failure, step


@dataclass
class Delivery:
    farm: str
    grain: str
    sacks: int


@dataclass
class Season:
    year: int
    deliveries: list[Delivery]


@dataclass
class Favourite:
    year: int
    grain: str
    deliveries: int
    sacks: int


@step("Granary.Favourite")
def favourite(season: Season, context) -> Favourite:
    """Finds the grain that most farms brought to the granary in a season."""
    if not season.deliveries:
        raise Failure("INVALID_INPUT", f"there were no deliveries in {season.year}")
    for delivery in season.deliveries:
        if delivery.sacks < 1:
            raise Failure("INVALID_INPUT", f"{delivery.farm} brought {delivery.sacks} sacks")

    grains = [delivery.grain.strip().lower() for delivery in season.deliveries]
    best = max(set(grains), key=grains.count)
    sacks = sum(one.sacks for one, grain in zip(season.deliveries, grains) if grain == best)
    return Favourite(season.year, best, grains.count(best), sacks)
