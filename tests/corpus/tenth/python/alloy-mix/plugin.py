from dataclasses import dataclass

from latchwork import Failure, step

FURNACE_CELSIUS = 1450


class Metal:
    """A metal that the foundry has in stock."""

    def __init__(self, name, melts_at, density):
        self.name = name
        self.melts_at = melts_at
        self.density = density


METALS = {
    "Cu": Metal("copper", 1085, 8.96),
    "Sn": Metal("tin", 232, 7.29),
    "Zn": Metal("zinc", 420, 7.14),
    "Ni": Metal("nickel", 1455, 8.91),
    "W": Metal("tungsten", 3422, 19.25),
}


@dataclass
class Part:
    symbol: str
    grams: int


@dataclass
class Recipe:
    alloy: str
    parts: list[Part]


@dataclass
class Melt:
    alloy: str
    grams: int
    pour_at: int
    first: str


@step("Alloy.Mix")
def mix(recipe: Recipe, context) -> Melt:
    """Plans the melt of an alloy: total weight, temperature, and the metal that goes in first."""
    if not recipe.parts or any(part.grams <= 0 for part in recipe.parts):
        raise Failure("INVALID_INPUT", f"{recipe.alloy} has no metals or a part without weight")
    metals = []
    for part in recipe.parts:
        metal = METALS.get(part.symbol)
        if metal is None:
            raise Failure("INVALID_INPUT", f"the foundry has no {part.symbol}")
        if metal.melts_at > FURNACE_CELSIUS:
            raise Failure("POLICY_DENIED", f"the furnace reaches {FURNACE_CELSIUS} degrees and cannot melt {metal}")
        metals.append(metal)
    hottest = max(metals, key=lambda metal: (metal.melts_at, metal.name))
    return Melt(recipe.alloy, sum(part.grams for part in recipe.parts), hottest.melts_at + 80, hottest.name)
