"""Drops a letter into the postbox of a house. The map has the letters, and a list of the letters that wait in each
box."""

import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, config, happened, kv, tool


@dataclass
class Letter:
    box: str
    text: str


@dataclass
class Dropped:
    letter: str


def dropped(key):
    return Output(Dropped(key), changes=[Change("letter", f"letter/{key}", "create")])


def waiting(box):
    return json.loads(kv.get(f"box/{box}") or b"[]")


@tool("Postbox.Drop", output=Dropped, effects=["internal_write"])
def drop(letter: Letter, context):
    """Drops a letter into the postbox of a house."""
    if not letter.box or len(letter.box) > 40:
        raise Failure("INVALID_INPUT", "the box is empty or too long")
    key = context.external_key
    kv.set(f"letter/{key}", letter.text)
    letters = waiting(letter.box)
    if len(letters) >= config.get("box_size", 20):
        raise Failure("POLICY_DENIED", f"the box {letter.box} is full")
    if key not in letters:
        kv.set(f"box/{letter.box}", json.dumps([*letters, key]))
    return dropped(key)


# Called after a crash: finds out whether the call happened.
@drop.reconcile
def find(letter: Letter, key):
    if kv.get(f"letter/{key}") is None:
        return "did_not_happen"
    return happened(dropped(key)) if key in waiting(letter.box) else "unknown"
