"""Deals the cards of a trivia evening. The same seed always gives the same hands."""

import hashlib
import random
from dataclasses import dataclass
from functools import lru_cache

from latchwork import Failure, config, tool

SUBJECTS = {"science", "rivers", "films", "music", "history", "sport"}
LEVELS = (1, 2, 3, 4)


@dataclass
class Evening:
    seed: str
    teams: list[str]
    subjects: list[str]
    round: int = 1


@dataclass
class Hand:
    team: str
    cards: list[str]
    points: int


@dataclass
class Deal:
    hands: list[Hand]
    left: int
    seal: str


@lru_cache(maxsize=None)
def points(card):
    """Returns the points of a card. The table saves work within one call."""
    subject, level = card.split("-")
    return int(level) * (3 if subject in ("rivers", "science") else 2)


# A pure tool may read its config. The generator has a seed of the input, so no random number of the host is used.
@tool("Trivia.Deal", determinism="pure")
def deal(evening: Evening, context) -> Deal:
    """Deals the cards of a round to the teams."""
    unknown = sorted(set(evening.subjects) - SUBJECTS)
    if unknown:
        raise Failure("INVALID_INPUT", f"there are no cards about {', '.join(unknown)}")
    if not evening.teams or len(set(evening.teams)) < len(evening.teams):
        raise Failure("INVALID_INPUT", "an evening has teams with different names")
    size = config.get("hand", 3)
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        raise Failure("INVALID_INPUT", f"the config hand is {size!r}, not a number of cards")
    subjects = sorted(set(evening.subjects) or SUBJECTS)
    cards = [f"{subject}-{level}" for subject in subjects for level in LEVELS]
    if size * len(evening.teams) > len(cards):
        raise Failure("INVALID_INPUT", f"{len(cards)} cards are not enough for {len(evening.teams)} teams")
    dealer = random.Random(f"{evening.seed}/{evening.round}")
    dealer.shuffle(cards)
    hands = []
    for place, team in enumerate(evening.teams):
        own = sorted(cards[place * size : (place + 1) * size])
        hands.append(Hand(team, own, sum(points(card) for card in own)))
    left = len(cards) - size * len(evening.teams)
    seal = hashlib.sha256("/".join(cards).encode()).hexdigest()[:12]
    return Deal(hands, left, seal)
