"""Summary of the plants that were counted along one transect."""

from dataclasses import dataclass

from latchwork import Failure, step

MAX_SIGHTINGS = 300


@dataclass
class Transect:
    id: str
    sightings: list[str]


@dataclass
class Summary:
    transect: str
    dominant: str
    cover: float
    richness: int


def normalized(name):
    return " ".join(name.lower().split())


@step("Transect.Summarize")
def summarize(transect: Transect, context) -> Summary:
    """Finds the dominant species of a transect, its share, and the number of species."""
    if len(transect.sightings) > MAX_SIGHTINGS:
        raise Failure("INVALID_INPUT", f"more than {MAX_SIGHTINGS} sightings")
    species = [normalized(name) for name in transect.sightings]
    species = [name for name in species if name]
    if not species:
        raise Failure("INVALID_INPUT", f"transect {transect.id} has no sightings")
    dominant = max(set(species), key=species.count)
    cover = round(species.count(dominant) / len(species), 3)
    return Summary(transect.id, dominant, cover, len(set(species)))
