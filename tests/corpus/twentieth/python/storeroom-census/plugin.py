"""Counts the goods in nested storerooms, shelves and boxes."""

from dataclasses import dataclass
from typing import Any

from latchwork import Failure, step


@dataclass
class Census:
    places: int
    deepest: int
    labels: list[str]
    pieces: str
    cents: str
    fullest: str


def whole(item, field):
    value = item.get(field)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise Failure("INVALID_INPUT", f"an item has no whole number of {field}")
    return value


def text(record, field):
    value = record.get(field)
    if not isinstance(value, str) or not value.strip():
        raise Failure("INVALID_INPUT", f"a record has no {field}")
    return value.strip()


def records(place, field):
    found = place.get(field, [])
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise Failure("INVALID_INPUT", f"{field} of a place is no list of records")
    return found


def walk(place, level, census):
    """Adds a place and the places inside it to the census. Returns the pieces in the place."""
    name = text(place, "name")
    pieces = 0
    for item in records(place, "items"):
        count = whole(item, "pieces")
        pieces += count
        census["cents"] += count * whole(item, "cents")
        census["labels"].add(text(item, "label"))
    census["pieces"] += pieces
    census["levels"].append(level)
    census["rooms"].append((pieces, name))
    for inner in records(place, "places"):
        walk(inner, level + 1, census)


@step("Storeroom.Count", input={"type": "object"})
def count(place: Any, context) -> Census:
    """Counts the goods of a storeroom with everything inside it."""
    census = {"cents": 0, "pieces": 0, "labels": set(), "levels": [], "rooms": []}
    walk(place, 1, census)
    # Of two places with as many pieces, the first one by name is the fullest.
    _, fullest = min((-pieces, name) for pieces, name in census["rooms"])
    return Census(
        places=len(census["levels"]),
        deepest=max(census["levels"]),
        labels=sorted(census["labels"]),
        pieces=str(census["pieces"]),
        cents=str(census["cents"]),
        fullest=fullest,
    )
