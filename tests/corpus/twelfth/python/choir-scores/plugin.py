"""The archive of a choir: scores with a card for the catalogue, and the text of the score."""

import json
from dataclasses import dataclass
from typing import Literal

from latchwork import Change, Failure, Output, kv, tool

VOICES = ("soprano", "alto", "tenor", "bass")


@dataclass
class Score:
    title: str
    composer: str
    voices: list[Literal["soprano", "alto", "tenor", "bass"]]
    abc: str
    """The notes in ABC notation."""


@dataclass
class Card:
    number: str
    title: str
    voicing: str
    bars: int


@dataclass
class Wanted:
    number: str


def voicing(voices):
    """Returns the usual short form, such as SATB or SSA."""
    return "".join(voice[0].upper() for voice in sorted(voices, key=VOICES.index))


def bars(abc):
    """Counts the bars of the notes. Lines such as `T:title` are headers."""
    notes = [line for line in abc.splitlines() if line[1:2] != ":"]
    return sum(1 for line in notes for bar in line.split("|") if bar.strip(" :[]"))


def notes_key(number):
    return f"{number}#notes"


@tool("Score.Archive", output=Card, effects=["internal_write"])
def archive(score: Score, context):
    """Adds a score to the archive, with a card in the catalogue."""
    title, number = score.title.strip(), context.external_key
    if not title or len(title) > 200 or len(score.composer) > 200:
        raise Failure("INVALID_INPUT", "title and composer have at most 200 characters, and a title is needed")
    if not 1 <= len(score.voices) <= 16:
        raise Failure("INVALID_INPUT", "a score has 1 to 16 voices")
    count = bars(score.abc)
    if count == 0:
        raise Failure("INVALID_INPUT", f"{title} has no bars")
    card = {"title": title, "composer": score.composer.strip(), "voicing": voicing(score.voices), "bars": count}
    kv.set(number, json.dumps(card))
    kv.set(notes_key(number), score.abc)
    return Output(
        Card(number, title, card["voicing"], count),
        changes=[Change("card", number, "create"), Change("notes", notes_key(number), "create")],
    )


@tool("Score.Card", effects=["read_only"])
def show(wanted: Wanted, context) -> Card:
    """Shows the card of a score."""
    if not wanted.number or len(wanted.number) > 128 or not wanted.number.isascii() or "#" in wanted.number:
        raise Failure("INVALID_INPUT", "this is no number of a score")
    value = kv.get(wanted.number)
    if value is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"the archive has no score {wanted.number}")
    card = json.loads(value)
    return Card(wanted.number, card["title"], card["voicing"], card["bars"])
