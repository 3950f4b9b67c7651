"""Makes the labels of the finds of an excavation, with a number that fits on a small card."""

import json
from dataclasses import dataclass
from typing import Literal

from latchwork import Change, Failure, Output, kv, tool

WEEK = 7 * 86_400
# A card has room for 32 characters in its last line.
NUMBER = 32
PERIODS = {"bronze": "Bronze Age", "iron": "Iron Age", "roman": "Roman", "viking": "Viking Age"}


@dataclass
class Find:
    site: str
    trench: int
    period: Literal["bronze", "iron", "roman", "viking"]
    what: str


@dataclass
class Label:
    number: str
    lines: list[str]


@dataclass
class Wanted:
    number: str


def lines(find):
    """Returns the first lines of the card, each of at most 32 characters."""
    what = " ".join(find.what.split())
    if not what:
        raise Failure("INVALID_INPUT", f"the find from trench {find.trench} has no description")
    return [what[:32], PERIODS[find.period], f"{find.site[:20]}, trench {find.trench}"]


def number(key):
    """Returns the number of the label of a call."""
    return key.removeprefix("latch:")[:NUMBER]


# A repetition of a call writes the same label under the same number.
@tool("Relic.Label", output=Label, effects=["internal_write"], idempotent_by_key_seconds=WEEK)
def label(find: Find, context):
    """Makes the label of a find and keeps it for the printer."""
    if not 1 <= find.trench <= 999:
        raise Failure("INVALID_INPUT", f"there is no trench {find.trench}")
    made = Label(number(context.external_key), lines(find))
    kv.set(f"label/{made.number}", json.dumps(made.lines))
    change = Change("label", made.number, "create", version=made.lines[0])
    return Output(made, receipt={"number": made.number}, changes=[change])


@tool("Relic.Read")
def read(wanted: Wanted, context) -> Label:
    """Reads a label for the printer."""
    kept = kv.get(f"label/{wanted.number}")
    if kept is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"there is no label {wanted.number}")
    return Label(wanted.number, json.loads(kept))
