"""Chooses the keywords of a shelf from the cards of its books."""

import re
from collections import Counter
from dataclasses import dataclass

from latchwork import Failure, step

SHORTEST = 4
COMMON = frozenset({"about", "after", "from", "into", "over", "that", "their", "this", "under", "with"})


@dataclass
class Card:
    title: str
    summary: str


@dataclass
class Shelf:
    name: str
    limit: int
    cards: list[Card]


@dataclass
class Keyword:
    word: str
    cards: int


@dataclass
class Label:
    shelf: str
    keywords: list[Keyword]
    line: str


@step("Shelf.Label")
def label(shelf: Shelf, context) -> Label:
    """Writes the label of a shelf: the words that most of its cards have."""
    if not 1 <= shelf.limit <= 20:
        raise Failure("INVALID_INPUT", f"a label has 1 to 20 keywords, not {shelf.limit}")
    if not shelf.cards:
        raise Failure("INVALID_INPUT", f"the shelf {shelf.name} has no cards")
    on_cards = [words(card) for card in shelf.cards]
    uses = Counter(word for found in on_cards for word in found)
    if not uses:
        raise Failure("INVALID_INPUT", f"the cards of {shelf.name} have no words of {SHORTEST} letters")
    candidates = set().union(*on_cards)
    best = sorted(candidates, key=lambda word: -uses[word])[: shelf.limit]
    keywords = [Keyword(word, uses[word]) for word in best]
    return Label(shelf.name, keywords, " · ".join(best))


def words(card):
    """Returns the words of a card, each once."""
    text = f"{card.title} {card.summary}".lower()
    return {word for word in re.findall(r"[a-zà-ÿ]+", text) if len(word) >= SHORTEST and word not in COMMON}
