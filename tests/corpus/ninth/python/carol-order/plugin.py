"""Draws the order of the songs of a carol concert. The seed is on the programme, so everyone can draw it again."""

import hashlib
import random
from dataclasses import dataclass
from functools import lru_cache

from latchwork import Failure, step

OPENERS = {"adeste", "herbei", "gaudete"}


@dataclass
class Concert:
    songs: list[str]
    seed: int


@dataclass
class Programme:
    order: list[str]
    dropped: list[str]
    openers: list[str]
    check: str


@lru_cache(maxsize=None)
def key(title):
    """Title without differences of case and spaces."""
    return " ".join(title.lower().split())


@step("Concert.Draw")
def draw(concert: Concert, context) -> Programme:
    """Draws the order of the songs of a concert from a seed."""
    if not 1 <= len(concert.songs) <= 200 or not all(key(song) for song in concert.songs):
        raise Failure("INVALID_INPUT", "a concert has 1 to 200 songs with titles")
    seen, order, dropped = set(), [], set()
    for song in concert.songs:
        if key(song) in seen:
            dropped.add(key(song))
        else:
            seen.add(key(song))
            order.append(song)
    random.Random(concert.seed).shuffle(order)
    # The openers come first. The sort is stable, so the drawn order stays within both groups.
    order.sort(key=lambda song: key(song) not in OPENERS)
    check = hashlib.sha256("\n".join(order).encode()).hexdigest()[:12]
    return Programme(order, sorted(dropped), sorted(OPENERS & seen), check)
