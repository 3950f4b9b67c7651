"""The shelves of a film archive: which reel lies where.

One entry of the map for each occupied place, ``shelf/<place>``, with the label of its reel.
"""

import json
from dataclasses import dataclass
from typing import Optional

from latchwork import Change, Failure, Output, kv, tool

MONTH = 30 * 24 * 3600


@dataclass
class Move:
    reel: str
    origin: str
    target: str


@dataclass
class Moved:
    reel: str
    place: str
    title: str


@dataclass
class Place:
    place: str


@dataclass
class Found:
    place: str
    reel: Optional[str]
    title: Optional[str]


def shelf(place):
    """The entry of a place. Places are written A-12 or a-12."""
    return f"shelf/{place.strip().upper()}"


def label_at(place):
    raw = kv.get(shelf(place))
    return None if raw is None else json.loads(raw)


# Putting a label on a shelf twice leaves one label, and taking one off twice leaves none: the host may repeat a move.
@tool("Reel.Move", effects=["internal_write"], idempotent_by_key_seconds=MONTH)
def move(order: Move, context) -> Moved:
    """Moves a reel from one place of the archive to another."""
    if shelf(order.origin) == shelf(order.target):
        raise Failure("INVALID_INPUT", f"{order.reel} is to stay at {order.origin}")
    label = label_at(order.origin)
    if label is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"there is no reel at {order.origin}")
    if label["reel"] != order.reel:
        raise Failure("INVALID_INPUT", f"the reel at {order.origin} is {label['reel']}, not {order.reel}")
    kv.set(shelf(order.target), json.dumps(label, sort_keys=True))
    kv.delete(shelf(order.origin))
    place = order.target.strip().upper()
    return Output(
        Moved(order.reel, place, label["title"]),
        receipt={"reel": order.reel, "place": place},
        changes=[Change("reel", order.reel, "move", external_ref=place)],
    )


@tool("Reel.At")
def look(asked: Place, context) -> Found:
    """Tells which reel lies at a place."""
    label = label_at(asked.place)
    if label is None:
        return Found(asked.place, None, None)
    return Found(asked.place, label["reel"], label["title"])
