"""Records which keg is on which line of a bar."""

import json
import time
from dataclasses import dataclass

from latchwork import kv, log, tool

WINDOW_S = 24 * 3600
FRESH_S = 1800


@dataclass
class Tapping:
    line: int
    beer: str
    liters: float


@dataclass
class Tapped:
    line: int
    beer: str
    tapped_at: int
    best_before: int


def recorded(place, now):
    """Returns the entry of an earlier try of the same call."""
    raw = kv.get(place)
    if raw is None:
        return None
    entry = json.loads(raw)
    return entry if now - entry["tapped_at"] < FRESH_S else None


# A repeated call finds the entry of its key and leaves it as it is.
@tool("Keg.Tap", effects=["internal_write"], idempotent_by_key_seconds=WINDOW_S)
def tap(tapping: Tapping, context) -> Tapped:
    """Records that a keg was tapped on a line."""
    place = f"keg/{context.external_key}"
    now = int(time.time())
    entry = recorded(place, now)
    if entry is None:
        entry = {
            "line": tapping.line,
            "beer": tapping.beer,
            "liters": tapping.liters,
            "tapped_at": now,
        }
        kv.set(place, json.dumps(entry, sort_keys=True))
    else:
        log.info("%s is already on line %d", entry["beer"], entry["line"])
    return Tapped(entry["line"], entry["beer"], entry["tapped_at"], entry["tapped_at"] + 5 * 86400)
