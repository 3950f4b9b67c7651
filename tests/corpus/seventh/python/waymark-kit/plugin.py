"""Plans what a trail crew has to carry for a stretch of path."""

from dataclasses import dataclass
from enum import Enum

from latchwork import Failure, step


class Gear(Enum):
    ROPE = "rope"
    HELMET = "helmet"
    PAINT = "paint"
    STENCIL = "stencil"
    SAW = "saw"
    SHOVEL = "shovel"
    WADERS = "waders"
    FIRST_AID = "first aid"


BASE = {Gear.FIRST_AID, Gear.PAINT, Gear.STENCIL}
FEATURES = {
    "cliff": {Gear.ROPE, Gear.HELMET},
    "ford": {Gear.WADERS, Gear.ROPE},
    "windfall": {Gear.SAW, Gear.HELMET},
    "landslip": {Gear.SHOVEL, Gear.HELMET},
}
WEIGHT_G = {
    Gear.ROPE: 3200, Gear.HELMET: 350, Gear.PAINT: 900, Gear.STENCIL: 120,
    Gear.SAW: 1400, Gear.SHOVEL: 1900, Gear.WADERS: 2100, Gear.FIRST_AID: 600,
}


@dataclass
class Stretch:
    trail: str
    features: list[str]
    crew: int


@dataclass
class Packing:
    trail: str
    items: list[str]
    grams_each: int


@step("Waymark.Pack")
def pack(stretch: Stretch, context) -> Packing:
    """Lists the gear for a stretch of trail."""
    if stretch.crew < 1:
        raise Failure("INVALID_INPUT", "a crew has at least one member")
    needed = set(BASE)
    for feature in stretch.features:
        if feature not in FEATURES:
            raise Failure("INVALID_INPUT", f"unknown feature {feature}")
        needed |= FEATURES[feature]
    total = sum(WEIGHT_G[gear] for gear in needed)
    return Packing(stretch.trail, [gear.value for gear in needed], -(-total // stretch.crew))
