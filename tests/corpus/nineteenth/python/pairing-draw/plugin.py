"""Draws the pairs of a table tennis evening."""

import random
from dataclasses import dataclass
from typing import Optional

from latchwork import Failure, step


@dataclass
class Evening:
    club: str
    day: str
    rounds: int
    players: list[str]


@dataclass
class Pair:
    first: str
    second: str


@dataclass
class Round:
    number: int
    pairs: list[Pair]
    rests: Optional[str]


@dataclass
class Draw:
    club: str
    rounds: list[Round]


MOST_ROUNDS = 12
MOST_PLAYERS = 64
LONGEST_NAME = 60


@step("Evening.Draw")
def draw(evening: Evening, context) -> Draw:
    """Draws pairs for each round. Members can repeat the draw, because it follows from club and day."""
    if not 1 <= evening.rounds <= MOST_ROUNDS:
        raise Failure("INVALID_INPUT", f"an evening has 1 to {MOST_ROUNDS} rounds, not {evening.rounds}")
    if not 2 <= len(evening.players) <= MOST_PLAYERS:
        raise Failure("INVALID_INPUT", f"an evening has 2 to {MOST_PLAYERS} players, not {len(evening.players)}")
    if any(len(name) > LONGEST_NAME for name in evening.players):
        raise Failure("INVALID_INPUT", f"a name has at most {LONGEST_NAME} characters")
    players = sorted(set(evening.players))
    if len(players) != len(evening.players):
        raise Failure("INVALID_INPUT", "two players have the same name")
    generator = random.Random(f"{evening.club}/{evening.day}")
    rested = set()
    rounds = []
    for number in range(1, evening.rounds + 1):
        order = list(players)
        generator.shuffle(order)
        rests = resting(order, rested) if len(order) % 2 else None
        pairs = [Pair(order[at], order[at + 1]) for at in range(0, len(order), 2)]
        rounds.append(Round(number, pairs, rests))
    return Draw(evening.club, rounds)


def resting(order, rested):
    """Removes the first player of the order that has rested least, and returns the name."""
    if rested.issuperset(order):
        rested.clear()
    name = next(name for name in order if name not in rested)
    rested.add(name)
    order.remove(name)
    return name
