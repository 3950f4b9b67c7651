"""Readings of weather stations. A gateway of the network writes ``station/<name>`` into the map of this plugin."""

import json
import random
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Optional

from latchwork import Failure, config, kv, log, tool

# Seconds after which a reading is too old, where the administrator says nothing else.
OLDEST = 6 * 3600


@dataclass
class Asked:
    station: str
    quantity: Optional[str] = None


@dataclass
class Reading:
    station: str
    at: str
    age_seconds: int
    values: dict[str, float]


def taken(entry):
    at = datetime.fromisoformat(entry["at"])
    return at if at.tzinfo else at.replace(tzinfo=timezone.utc)


@tool("Station.Read")
def read(asked: Asked, context) -> Reading:
    """Returns the last reading of a station, if it is fresh enough."""
    name = asked.station.strip().lower()
    if not name:
        raise Failure("INVALID_INPUT", "the station has no name")
    raw = kv.get(f"station/{name}")
    if raw is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"there is no station {name}")
    try:
        entry = json.loads(raw)
        at, values = taken(entry), {key: float(value) for key, value in entry["values"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Failure("SCHEMA_VALIDATION_FAILED", f"the reading of {name} cannot be understood", applied="no") from error

    # The clocks of the stations may be a little ahead.
    age = max(0, int((datetime.now(timezone.utc) - at).total_seconds()))
    oldest = config.get("oldest_seconds", OLDEST)
    if age > oldest:
        # Stations send every ten minutes. The spread keeps the jobs from all asking again at once.
        wait = random.randint(540, 660) * 1000
        log.warn("try %d: the reading of %s is %d s old", context.tries_before + 1, name, age)
        raise Failure("DEPENDENCY_UNAVAILABLE", f"{name} has sent nothing since {at.isoformat()}", retry_after_ms=wait, applied="no")
    if asked.quantity is not None:
        if asked.quantity not in values:
            raise Failure("INVALID_INPUT", f"{name} does not measure {asked.quantity}")
        values = {asked.quantity: values[asked.quantity]}
    return Reading(name, at.isoformat(), age, values)
