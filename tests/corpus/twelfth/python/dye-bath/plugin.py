"""Computes how much of each pigment a dye bath needs, if recipes are mixed from other recipes."""

import hashlib
import json
import random
from dataclasses import dataclass
from functools import lru_cache

from latchwork import Failure, step

MAX_GRAMS = 1_000_000_000
MAX_PARTS = 1_000


@dataclass
class Part:
    name: str
    parts: int


@dataclass
class Recipe:
    name: str
    mixed_from: list[Part]


@dataclass
class Bath:
    recipe: str
    grams: int
    recipes: list[Recipe]
    swatch_seed: int = 1


@dataclass
class Amount:
    pigment: str
    milligrams: int


@dataclass
class Sheet:
    batch: str
    pigments: list[Amount]
    swatches: list[str]


@lru_cache(maxsize=4096)
def plain(name):
    return " ".join(name.lower().split())


def ordered(wanted, book):
    """Returns the recipes that the bath needs, each before those that it is mixed from. Keeps the pending work in a
    list, because a chain of recipes can be long."""
    order, state, pending = [], {}, [(wanted, False)]
    while pending:
        name, done = pending.pop()
        if done:
            state[name] = "done"
            order.append(name)
        elif name in book and state.get(name) != "done":
            if state.get(name) == "open":
                raise Failure("INVALID_INPUT", f"{name} is mixed from itself")
            state[name] = "open"
            pending.append((name, True))
            pending.extend((part, False) for part in book[name] if state.get(part) != "done")
    return order[::-1]


@step("Bath.Mix")
def mix(bath: Bath, context) -> Sheet:
    """Computes the pigments of a dye bath."""
    if not 1 <= bath.grams <= MAX_GRAMS:
        raise Failure("INVALID_INPUT", f"a bath has 1 to {MAX_GRAMS} grams")
    book = {}
    for recipe in bath.recipes:
        parts = book.setdefault(plain(recipe.name), {})
        for part in recipe.mixed_from:
            if not 1 <= part.parts <= MAX_PARTS:
                raise Failure("INVALID_INPUT", f"{recipe.name}: {part.parts} is no number of parts")
            parts[plain(part.name)] = part.parts
    wanted = plain(bath.recipe)
    if not book.get(wanted):
        raise Failure("MISSING_REQUIRED_CONTEXT", f"there is no recipe for {wanted}")
    amounts = {wanted: bath.grams * 1000}
    for name in ordered(wanted, book):
        parts = book[name]
        if not parts:
            continue
        whole, total = amounts.pop(name), sum(parts.values())
        for part in sorted(parts):
            amounts[part] = amounts.get(part, 0) + whole * parts[part] // total
    pigments = [Amount(name, amounts[name]) for name in sorted(amounts)]
    text = json.dumps([[one.pigment, one.milligrams] for one in pigments])
    # The author of the request chooses the seed, so the same swatches are dyed for the same request.
    swatches = random.Random(bath.swatch_seed).sample([one.pigment for one in pigments], min(3, len(pigments)))
    return Sheet(hashlib.sha256(text.encode()).hexdigest()[:16], pigments, swatches)
