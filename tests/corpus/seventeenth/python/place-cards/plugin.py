"""Place cards of a banquet: the hall steward takes a card out of the box for each guest who arrives."""

import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, kv, tool

MAX_GUESTS = 200


@dataclass
class Party:
    table: str
    guests: list[str]


@dataclass
class Box:
    cards: list[str]


@dataclass
class Card:
    card: str


@dataclass
class Guest:
    card: str
    guest: str
    table: str


def place(card):
    return f"card/{card}"


def numbered(key, guests):
    """The numbers of the cards of one call."""
    return [f"{key}/{number}" for number in range(1, guests + 1)]


def checked(party):
    """Returns the names of the guests, each without blanks around it."""
    names = [name.strip()[:80] for name in party.guests]
    if not names or len(names) > MAX_GUESTS:
        raise Failure("INVALID_INPUT", f"a party has 1 to {MAX_GUESTS} guests, not {len(names)}")
    if "" in names:
        raise Failure("INVALID_INPUT", "a guest has no name")
    if not 1 <= len(party.table) <= 40:
        raise Failure("INVALID_INPUT", "a table has a name of 1 to 40 characters")
    return names


@tool("PlaceCards.Print", output=Box, effects=["internal_write"])
def fill(party: Party, context):
    """Puts a card for each guest of a table into the box."""
    names = checked(party)
    cards = numbered(context.external_key, len(names))
    for card, guest in zip(cards, names):
        kv.set(place(card), json.dumps({"guest": guest, "table": party.table}))
    return Output(Box(cards), changes=[Change("card", card, "create") for card in cards])


@fill.compensate
def empty(party: Party, result: Box, key):
    """Takes the cards out of the box again. After the first arrival the table stays as it is."""
    for card in result.cards:
        if not kv.delete(place(card)):
            raise Failure("POLICY_DENIED", f"a guest of {party.table} has arrived: card {card} was taken")
    return Output(None, changes=[Change("card", card, "delete") for card in result.cards])


@tool("PlaceCards.Take", output=Guest, effects=["internal_write"])
def take(given: Card, context):
    """Takes the card of a guest who has arrived out of the box."""
    raw = kv.get(place(given.card))
    if raw is None:
        raise Failure("INVALID_INPUT", f"there is no card {given.card} in the box")
    found = json.loads(raw)
    if not kv.delete(place(given.card)):
        raise Failure("INVALID_INPUT", f"the card {given.card} was taken already")
    return Output(
        Guest(given.card, found["guest"], found["table"]),
        changes=[Change("card", given.card, "delete")],
    )
