import json
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Literal

from latchwork import Change, Failure, Output, happened, kv, tool


@dataclass
class Sighting:
    ship: str
    bearing: int
    weather: Literal["clear", "haze", "fog"] = "clear"


@dataclass
class Noted:
    entry: str


def noted(key):
    return Output(Noted(key), changes=[Change("sighting", key, "create")])


# An entry has the name of its call, so a second try writes the same entry again.
@tool("Lighthouse.Note", output=Noted, effects=["internal_write"], idempotent_by_key_seconds=7 * 86400)
def note(sighting: Sighting, context):
    """Notes a ship in the watch book of a lighthouse."""
    if not 0 <= sighting.bearing < 360:
        raise Failure("INVALID_INPUT", f"{sighting.bearing} is no bearing")
    if not sighting.ship.strip() or len(sighting.ship) > 200:
        raise Failure("INVALID_INPUT", "a ship has a name of at most 200 characters")
    entry = {
        "ship": sighting.ship,
        "bearing": sighting.bearing,
        "weather": sighting.weather,
        "seen_at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }
    kv.set(context.external_key, json.dumps(entry))
    return noted(context.external_key)


@note.reconcile
def find(sighting: Sighting, key):
    return "did_not_happen" if kv.get(key) is None else happened(noted(key))
