"""Asks a model for the moral of a fable and sets the moral on a card."""

import random
import re
import textwrap
import uuid
from dataclasses import dataclass
from datetime import date

from latchwork import Failure, step, tools

ANIMALS = {"fox", "crow", "hare", "tortoise", "lion", "mouse", "wolf", "lamb", "ant", "grasshopper", "frog", "ox"}
BORDERS = ["ivy", "acorn", "wave", "feather"]
# A model sometimes answers with an empty text or a long one.
ASKED = 3


@dataclass
class Fable:
    title: str
    text: str
    width: int = 32


@dataclass
class Card:
    id: str
    title: str
    animals: list[str]
    lines: list[str]
    border: str
    printed_on: str


# The model is stable, and the id, the border and the date differ between jobs.
@step("Fable.Card", determinism="stable", outcome=("Fable.Card", "draft"))
def card(fable: Fable, context) -> Card:
    """Makes a card with the moral of a fable."""
    if not 16 <= fable.width <= 80:
        raise Failure("INVALID_INPUT", "a card is 16 to 80 characters wide")
    words = re.findall(r"[a-z]+", fable.text.lower())
    if not words:
        raise Failure("INVALID_INPUT", f"{fable.title} has no text")
    animals = sorted(ANIMALS & set(words))
    moral = ask(fable, animals)
    lines = textwrap.wrap(moral, fable.width)
    return Card(str(uuid.uuid4()), fable.title, animals, lines, random.choice(BORDERS), date.today().isoformat())


def ask(fable, animals):
    """Asks the model a fixed number of times for a short moral."""
    about = f" It is about: {', '.join(animals)}." if animals else ""
    for number in range(1, ASKED + 1):
        prompt = f"State the moral of this fable in one sentence of at most {30 - 5 * number} words.{about}\n\n{fable.text}"
        answer = tools.call("Model.Ask", {"prompt": prompt})
        moral = " ".join(str(answer.get("text", "")).split())
        if moral and len(moral) <= 240:
            return moral
    raise Failure("DEPENDENCY_UNAVAILABLE", f"the model gave no short moral of {fable.title}")
