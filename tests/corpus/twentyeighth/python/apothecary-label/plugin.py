"""Drawers of an apothecary: each drawer has a label in front and a leaflet inside."""

from dataclasses import dataclass
from typing import Optional

from latchwork import Failure, Output, kv, log, tool


@dataclass
class Drawer:
    drawer: str
    remedy: str
    grams: int
    leaflet: str


@dataclass
class Labelled:
    drawer: str
    label: str


@dataclass
class Place:
    drawer: str


@dataclass
class Seen:
    label: Optional[str]
    leaflet: Optional[str]


def label_of(drawer):
    return f"label/{drawer}"


def leaflet_of(drawer):
    return f"leaflet/{drawer}"


@tool("Drawer.Label", output=Labelled, effects=["internal_write"])
def label(drawer: Drawer, context):
    """Puts a label on a drawer and its leaflet inside."""
    name = drawer.remedy.strip()
    if not name:
        raise Failure("INVALID_INPUT", "the remedy has no name")
    if not 1 <= drawer.grams <= 50_000:
        raise Failure("INVALID_INPUT", "a drawer holds 1 to 50,000 grams")
    text = f"{name}, {drawer.grams} g"
    kv.set(label_of(drawer.drawer), text)
    try:
        kv.set(leaflet_of(drawer.drawer), drawer.leaflet)
    except Failure as failure:
        if failure.code != "INVALID_INPUT":
            # The leaflet may be in the drawer.
            raise Failure(failure.code, failure.message, detail=failure.detail, applied="unknown") from failure
        # The leaflet is too large and was not written. The label comes off again, so nothing has changed.
        try:
            kv.delete(label_of(drawer.drawer))
        except Failure as second:
            raise Failure(second.code, f"the label could not be taken off: {second.message}", applied="unknown") from second
        log.warn("drawer %s: the leaflet is too large", drawer.drawer)
        raise Failure("INVALID_INPUT", "the leaflet is too large for the drawer", applied="no") from failure
    return Output({"drawer": drawer.drawer, "label": text}, receipt={"label": label_of(drawer.drawer)})


@tool("Drawer.Look", effects=["read_only"])
def look(place: Place, context) -> Seen:
    """Reads the label and the leaflet of a drawer."""
    front, inside = kv.get(label_of(place.drawer)), kv.get(leaflet_of(place.drawer))
    return Seen(None if front is None else front.decode(), None if inside is None else inside.decode())
