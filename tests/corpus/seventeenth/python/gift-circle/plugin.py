"""Draws a gift circle: everybody gives a present to one other person, and gets one."""

import hashlib
import random
from dataclasses import dataclass, field

from latchwork import Failure, log, step

# Orders of the circle that are tried before the draw is given up.
TRIES = 200
MAX_PEOPLE = 80


@dataclass
class Circle:
    """The people of a circle, and the pairs that do not give to each other."""

    name: str
    year: int
    people: list[str]
    apart: list[list[str]] = field(default_factory=list)


@dataclass
class Gift:
    giver: str
    receiver: str


@dataclass
class Drawn:
    name: str
    gifts: list[Gift]
    tries: int


def checked(circle):
    """Returns the people in the order of their names, and the forbidden pairs."""
    people = {name.strip() for name in circle.people}
    if "" in people:
        raise Failure("INVALID_INPUT", "a person has no name")
    if len(people) < len(circle.people):
        raise Failure("INVALID_INPUT", "a person is named twice")
    if len(people) < 3:
        raise Failure("INVALID_INPUT", "a circle has at least three people")
    if len(people) > MAX_PEOPLE:
        raise Failure("INVALID_INPUT", f"a circle has at most {MAX_PEOPLE} people, not {len(people)}")
    pairs = {frozenset(name.strip() for name in pair) for pair in circle.apart}
    if any(len(pair) != 2 for pair in pairs):
        raise Failure("INVALID_INPUT", "apart: a pair has two different people")
    strangers = set().union(*pairs) - people
    if strangers:
        raise Failure("INVALID_INPUT", f"apart: not in the circle: {', '.join(sorted(strangers))}")
    return sorted(people), pairs


def generator(circle, people):
    """The generator of a circle. The same people of the same year get the same draw."""
    text = "\n".join([circle.name, str(circle.year), *people])
    return random.Random(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big"))


def around(order):
    """Pairs each person with the next one, and the last with the first."""
    return list(zip(order, order[1:] + order[:1]))


@step("Gifts.Draw")
def draw(circle: Circle, context) -> Drawn:
    """Draws who gives to whom."""
    people, apart = checked(circle)
    chance = generator(circle, people)
    order = list(people)
    for tries in range(1, TRIES + 1):
        chance.shuffle(order)
        gifts = around(order)
        if all(frozenset(pair) not in apart for pair in gifts):
            log.info("%s: drawn with try %d", circle.name, tries)
            return Drawn(circle.name, [Gift(giver, receiver) for giver, receiver in sorted(gifts)], tries)
    raise Failure("INVALID_INPUT", f"{circle.name}: no circle found that keeps {len(apart)} pairs apart")
