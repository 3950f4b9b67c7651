"""Subscriber cards of a theatre: draws the number of each card and prints its lines."""

import random
from dataclasses import dataclass
from typing import Literal

from latchwork import Failure, step

RANKS = {"stalls": 1, "circle": 2, "gallery": 3}


@dataclass
class Subscriber:
    name: str
    rank: Literal["stalls", "circle", "gallery"]
    evenings: int


@dataclass
class Order:
    season: str
    subscribers: list[Subscriber]


@dataclass
class Card:
    number: int
    printed: str
    check: int
    lines: list[str]


@dataclass
class Cards:
    season: str
    cards: list[Card]
    evenings: int


def luhn(number):
    """Check digit of a number (Luhn)."""
    total = 0
    for place, digit in enumerate(reversed(str(number))):
        value = int(digit) * (1 if place % 2 else 2)
        total += value - 9 if value > 9 else value
    return -total % 10


def grouped(number):
    text = str(number)
    return " ".join(text[at:at + 4] for at in range(0, len(text), 4))


def draw(taken):
    """Draws a number of 16 digits that no card of this order has."""
    for _ in range(20):
        number = random.randrange(10**15, 10**16)
        if number not in taken:
            taken.add(number)
            return number
    raise Failure("DEPENDENCY_UNAVAILABLE", "no free number was drawn")


def lines(subscriber, season):
    name = subscriber.name.strip()
    if len(name) > 26:
        first, _, last = name.partition(" ")
        name = f"{first[:1]}. {last}"[:26]
    return [name.upper(), f"{subscriber.rank}, {subscriber.evenings} evenings", season]


@step("Cards.Make", determinism="stable")
def make(order: Order, context) -> Cards:
    """Makes the cards of the subscribers of a season."""
    if not order.subscribers:
        raise Failure("INVALID_INPUT", "the order has no subscriber")
    taken, cards = set(), []
    for subscriber in sorted(order.subscribers, key=lambda one: (RANKS[one.rank], one.name)):
        if subscriber.evenings < 1:
            raise Failure("INVALID_INPUT", f"{subscriber.name} has no evening")
        number = draw(taken)
        cards.append(Card(number, grouped(number), luhn(number), lines(subscriber, order.season)))
    return Cards(order.season, cards, sum(one.evenings for one in order.subscribers))
