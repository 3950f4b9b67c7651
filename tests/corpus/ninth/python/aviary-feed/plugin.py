"""Plans the daily feed of an aviary."""

from dataclasses import dataclass

from latchwork import Failure, step

# Grams for each day by species and largest body weight in grams.
RATIONS = {
    "canary": [(25, 5)],
    "cockatiel": [(90, 14), (130, 18)],
    "amazon": [(450, 32), (700, 45)],
}


@dataclass
class Aviary:
    birds: list[dict]


@dataclass
class Feed:
    grams: dict[str, int]
    total: int


class Bird:
    def __init__(self, ring, species, weight):
        self.ring = ring
        self.species = species
        self.weight = weight

    def ration(self):
        """Grams of feed for a day, or None if the table has no line for this bird."""
        for weight, grams in RATIONS.get(self.species, ()):
            if self.weight <= weight:
                return grams
        return None


def read(entry):
    try:
        return Bird(str(entry["ring"]), str(entry["species"]), float(entry["weight"]))
    except (KeyError, TypeError, ValueError):
        raise Failure("INVALID_INPUT", "a bird has a ring, a species and a weight") from None


@step("Aviary.Feed")
def feed(aviary: Aviary, context) -> Feed:
    """Plans the daily feed of an aviary."""
    grams = {}
    for bird in map(read, aviary.birds):
        if bird.ring in grams:
            raise Failure("INVALID_INPUT", f"the ring {bird.ring} is listed twice")
        ration = bird.ration()
        if ration is None:
            raise Failure("INVALID_INPUT", f"the table has no ration for {bird}")
        grams[bird.ring] = ration
    return Feed(grams, sum(grams.values()))
