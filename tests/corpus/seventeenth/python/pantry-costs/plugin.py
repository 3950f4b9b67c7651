"""Estimates the cost of the shopping for a week of recipes."""

from dataclasses import dataclass

from latchwork import Failure, log, step


@dataclass
class Recipe:
    name: str
    ingredients: list[str]


@dataclass
class Week:
    """The recipes of a week, with the price of one package of each ingredient."""

    recipes: list[Recipe]
    prices: dict[str, float]
    at_home: list[str]


@dataclass
class Shopping:
    items: list[str]
    total: float
    dearest: str
    by_recipe: dict[str, int]


def tidy(name):
    return " ".join(name.lower().split())


def needed(week):
    """Returns the ingredients to buy: one package of each, and none of those at home."""
    wanted = set()
    for recipe in week.recipes:
        wanted |= {tidy(name) for name in recipe.ingredients}
    return wanted - {tidy(name) for name in week.at_home}


@step("Pantry.Estimate")
def estimate(week: Week, context) -> Shopping:
    """Lists the ingredients to buy for a week, and adds up their prices."""
    if not week.recipes:
        raise Failure("INVALID_INPUT", "the week has no recipes")
    prices = {tidy(name): price for name, price in week.prices.items()}
    buy = needed(week)
    if not buy:
        raise Failure("INVALID_INPUT", "everything is at home")
    unknown = sorted(name for name in buy if name not in prices)
    if unknown:
        raise Failure("INVALID_INPUT", f"no price of {', '.join(unknown)}")
    negative = sorted(name for name in buy if prices[name] < 0)
    if negative:
        raise Failure("INVALID_INPUT", f"a negative price of {', '.join(negative)}")
    total = 0.0
    for name in buy:
        total += prices[name]
    items = sorted(buy)
    dearest = max(items, key=lambda name: prices[name])
    log.info("%d ingredients for %d recipes", len(items), len(week.recipes))
    return Shopping(
        items=items,
        total=total,
        dearest=dearest,
        by_recipe={recipe.name: len(buy & {tidy(name) for name in recipe.ingredients}) for recipe in week.recipes},
    )
