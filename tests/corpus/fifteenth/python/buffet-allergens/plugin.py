from dataclasses import dataclass

from latchwork import Failure, step, tools

# Allergens of common ingredients. Other ingredients have none.
ALLERGENS = {
    "butter": "milk", "cream": "milk", "cheese": "milk", "flour": "gluten", "barley": "gluten", "egg": "egg",
    "mayonnaise": "egg", "walnut": "nuts", "hazelnut": "nuts", "shrimp": "shellfish", "crab": "shellfish",
    "anchovy": "fish", "salmon": "fish", "tofu": "soy", "miso": "soy", "tahini": "sesame", "celeriac": "celery",
}


@dataclass
class Dish:
    name: str
    ingredients: list[str]


@dataclass
class Buffet:
    occasion: str
    dishes: list[Dish]


@dataclass
class Sign:
    title: str
    allergens: int
    safe_dishes: list[str]
    sign: list[str]


def allergens_of(dish):
    """Returns the allergens of a dish."""
    names = {part.strip().lower() for part in dish.ingredients}
    return {ALLERGENS[name] for name in names if name in ALLERGENS}


@step("Buffet.Sign")
def sign(buffet: Buffet, context) -> Sign:
    """Makes the sign with the allergens of all dishes of a buffet."""
    if not buffet.dishes:
        raise Failure("INVALID_INPUT", "the buffet has no dishes")
    found, safe = set(), []
    for dish in buffet.dishes:
        allergens = allergens_of(dish)
        found |= allergens
        if not allergens:
            safe.append(dish.name)
    title = buffet.occasion.strip() or "Buffet"
    if not found:
        return Sign(title, 0, safe, ["No allergens"])
    # The layout of a sign follows from its words alone.
    answer = tools.call("Sign.Layout", {"title": title, "words": list(found), "columns": 2})
    return Sign(title, len(found), safe, answer["lines"])
