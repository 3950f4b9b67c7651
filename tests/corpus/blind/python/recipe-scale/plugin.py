from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache

from latchwork import Failure, step


@dataclass
class Part:
    name: str
    grams: int


@dataclass
class Recipe:
    servings: int
    wanted: int
    parts: list[Part]


@dataclass
class Scaled:
    parts: dict[str, str]
    allergens: list[str]


ALLERGENS = {"flour", "milk", "egg", "nuts"}


@lru_cache(maxsize=None)
def amount(grams, servings, wanted):
    exact = Decimal(grams) * wanted / servings
    if exact >= 1000:
        return f"{(exact / 1000).quantize(Decimal('0.01'), ROUND_HALF_UP)} kg"
    return f"{exact.quantize(Decimal('1'), ROUND_HALF_UP)} g"


@step("RecipeScale.Scale", determinism="pure")
def scale(recipe: Recipe, context) -> Scaled:
    """Scales a recipe to a number of servings."""
    if not (1 <= recipe.servings <= 1000 and 1 <= recipe.wanted <= 1000):
        raise Failure("INVALID_INPUT", "servings are 1 to 1000")
    totals = {}
    for part in recipe.parts:
        if not 0 <= part.grams <= 1_000_000:
            raise Failure("INVALID_INPUT", f"{part.name} has {part.grams} grams")
        totals[part.name] = totals.get(part.name, 0) + part.grams
    parts = {name: amount(grams, recipe.servings, recipe.wanted) for name, grams in totals.items()}
    return Scaled(parts, sorted(ALLERGENS & set(parts)))
