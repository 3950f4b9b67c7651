"""Keeps the haiku of the visitors of a garden, each under the key of its call."""

import json
import re
from dataclasses import dataclass

from latchwork import Change, Failure, Output, happened, kv, tool


@dataclass
class Haiku:
    poet: str
    lines: list[str]


@dataclass
class Slip:
    id: str
    poet: str
    lines: list[str]


@dataclass
class Wanted:
    id: str


def tidy(line):
    """Removes spaces at the ends, and repeated spaces."""
    return re.sub(r"\s+", " ", line).strip()


def hung(key, haiku):
    slip = Slip(key, haiku.poet, haiku.lines)
    return Output(slip, receipt={"id": key}, changes=[Change("haiku", key, "create")])


@tool("Haiku.Hang", output=Slip, effects=["internal_write"])
def hang(haiku: Haiku, context):
    """Hangs a haiku on the tree of the garden."""
    lines = [tidy(line) for line in haiku.lines]
    if len(lines) != 3 or not all(lines):
        raise Failure("INVALID_INPUT", "a haiku has three lines")
    if any(len(line) > 80 for line in lines):
        raise Failure("INVALID_INPUT", "a line of a haiku has at most 80 characters")
    kept = Haiku(tidy(haiku.poet) or "anonymous", lines)
    kv.set(f"slip/{context.external_key}", json.dumps({"poet": kept.poet, "lines": kept.lines}))
    return hung(context.external_key, kept)


# Called after a crash: finds out whether the haiku hangs on the tree.
@hang.reconcile
def find(haiku: Haiku, key):
    if kv.get(f"slip/{key}") is None:
        return "did_not_happen"
    return happened(hung(key, haiku))


@tool("Haiku.Read")
def read(wanted: Wanted, context) -> Slip:
    """Reads a haiku."""
    kept = kv.get(f"slip/{wanted.id}")
    if kept is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"there is no haiku {wanted.id}")
    return Slip(wanted.id, **json.loads(kept))
