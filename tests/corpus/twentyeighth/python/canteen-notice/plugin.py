"""Notices of the canteens of a firm: one text for each counter. A new notice replaces the one before."""

import hashlib
from dataclasses import dataclass
from typing import Optional

from latchwork import Change, Failure, Output, kv, tool


@dataclass
class Notice:
    counter: str
    text: str


@dataclass
class Placed:
    counter: str
    replaced: Optional[str]


def place_of(counter):
    return f"notice/{counter}"


def stamp(text):
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@tool("Notice.Place", output=Placed, effects=["internal_write"])
def place(notice: Notice, context):
    """Places a notice at a counter and returns the notice that it replaced."""
    text = notice.text.strip()
    if not text:
        raise Failure("INVALID_INPUT", "the notice is empty")
    if len(text.encode()) > 8_000:
        raise Failure("INVALID_INPUT", "the notice does not fit the frame")
    before = kv.get(place_of(notice.counter))
    replaced = None if before is None else before.decode().strip()
    kv.set(place_of(notice.counter), text)
    change = Change("notice", notice.counter, "set", version=stamp(text))
    return Output(Placed(notice.counter, replaced), changes=[change])


@place.verify
def check(change):
    now = kv.get(place_of(change.resource_id))
    if now is None:
        return "the counter has no notice"
    return True if stamp(now.decode()) == change.version else "the counter has another notice"


@place.compensate
def put_back(notice: Notice, result: Placed, key):
    now = kv.get(place_of(notice.counter))
    if now is None or now.decode() != notice.text.strip():
        raise Failure("POLICY_DENIED", "the notice was replaced since", applied="no")
    replaced = result.replaced
    if replaced is None:
        # There was no notice before.
        if not kv.delete(place_of(notice.counter)):
            raise Failure("POLICY_DENIED", "the notice was taken down since", applied="no")
        return Output(None, changes=[Change("notice", notice.counter, "delete")])
    kv.set(place_of(notice.counter), replaced)
    return Output(None, changes=[Change("notice", notice.counter, "set", version=stamp(replaced))])
