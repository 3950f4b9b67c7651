from dataclasses import dataclass
from functools import lru_cache

from latchwork import Failure, step


@dataclass
class Order:
    kind: str
    dishes: list[str]


@dataclass
class Menu:
    lines: list[str]


TITLES = {"lunch": "Lunch, from noon", "dinner": "Dinner, from six"}


@lru_cache(maxsize=None)
def template(kind):
    return [TITLES[kind], "=" * len(TITLES[kind])]


@step("Menu.Make", determinism="pure")
def make(order: Order, context) -> Menu:
    """Makes a menu from a template and the dishes of the day."""
    if order.kind not in TITLES:
        raise Failure("INVALID_INPUT", f"no menu is known for {order.kind}")
    lines = template(order.kind)
    for dish in order.dishes:
        lines.append(f"* {dish}")
    return Menu(lines)
