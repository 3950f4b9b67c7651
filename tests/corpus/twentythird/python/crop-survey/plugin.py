from dataclasses import dataclass
from typing import Optional

from latchwork import Failure, step

PLOT = {
    "type": "object",
    "properties": {
        "plot": {"type": "string", "minLength": 1, "maxLength": 40},
        "hectares": {"type": "number", "minimum": 0.01, "maximum": 1000},
        # The notes of each walker for the plot, in the order of the visits.
        "noted": {
            "type": "array",
            "items": {"type": "string", "maxLength": 60},
            "maxItems": 30,
        },
    },
    "required": ["plot", "hectares", "noted"],
    "additionalProperties": False,
}

INPUT = {
    "type": "object",
    "properties": {
        "parish": {"type": "string", "minLength": 1, "maxLength": 80},
        "plots": {"type": "array", "items": PLOT, "minItems": 1, "maxItems": 300},
    },
    "required": ["parish", "plots"],
    "additionalProperties": False,
}

# Spellings that walkers use for the same crop.
SAME = {"corn": "maize", "mais": "maize", "oilseed rape": "rape", "rapeseed": "rape", "spuds": "potatoes"}


@dataclass
class Plot:
    plot: str
    crop: Optional[str]
    agreed: int
    visits: int


@dataclass
class Survey:
    parish: str
    plots: list[Plot]
    hectares: dict[str, float]
    disputed: list[str]


def crop_of(noted):
    """The crop of a note in its usual spelling."""
    plain = " ".join(noted.lower().split())
    return SAME.get(plain, plain)


def most_common(crops):
    """The crop that most walkers noted."""
    return max(set(crops), key=crops.count)


@step("Survey.Merge", input=INPUT)
def merge(survey: dict, context) -> Survey:
    """Merges the notes of several walkers into one crop for each plot of a parish."""
    merged, disputed, hectares = [], [], {}
    seen = set()
    for plot in survey["plots"]:
        name = plot["plot"]
        if name in seen:
            raise Failure("INVALID_INPUT", f"plot {name} is listed twice")
        seen.add(name)
        crops = [crop for crop in map(crop_of, plot["noted"]) if crop]
        if not crops:
            merged.append(Plot(name, None, 0, 0))
            continue
        crop = most_common(crops)
        agreed = crops.count(crop)
        merged.append(Plot(name, crop, agreed, len(crops)))
        hectares[crop] = hectares.get(crop, 0.0) + plot["hectares"]
        if agreed * 2 <= len(crops):
            disputed.append(name)

    rounded = {crop: round(area, 2) for crop, area in sorted(hectares.items())}
    return Survey(survey["parish"], merged, rounded, sorted(disputed))
