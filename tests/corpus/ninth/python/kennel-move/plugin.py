"""Keeps the pen of each dog in a shelter, and a protocol of the moves."""

import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, happened, kv, tool

PENS = ("north", "south", "infirmary", "puppies")


@dataclass
class Move:
    chip: str
    pen: str
    reason: str


@dataclass
class Moved:
    chip: str
    pen: str


@dataclass
class Dog:
    chip: str


def check(chip):
    if not chip.isalnum() or len(chip) > 20:
        raise Failure("INVALID_INPUT", "a chip number has at most 20 letters and digits")


def moved(move, key):
    return Output(Moved(move.chip, move.pen), changes=[Change("move", key, "create", version=move.pen)])


@tool("Kennel.Move", output=Moved, effects=["internal_write"])
def move_dog(move: Move, context):
    """Moves a dog to a pen."""
    check(move.chip)
    if move.pen not in PENS or len(move.reason) > 500:
        raise Failure("INVALID_INPUT", f"a move has a reason and one of the pens {', '.join(PENS)}")
    kv.set(f"dog:{move.chip}", move.pen)
    try:
        kv.set(f"move:{context.external_key}", json.dumps({"chip": move.chip, "pen": move.pen, "reason": move.reason}))
    except Failure as failure:
        raise Failure(failure.code, failure.message, applied="unknown") from failure
    return moved(move, context.external_key)


# The protocol has every move under the key of its call.
@move_dog.reconcile
def find(move: Move, key):
    return "did_not_happen" if kv.get(f"move:{key}") is None else happened(moved(move, key))


@tool("Kennel.Find")
def find_dog(dog: Dog, context) -> Moved:
    """Returns the pen of a dog."""
    check(dog.chip)
    pen = kv.get(f"dog:{dog.chip}")
    if pen is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"no dog has the chip {dog.chip}")
    return Moved(dog.chip, pen.decode())
