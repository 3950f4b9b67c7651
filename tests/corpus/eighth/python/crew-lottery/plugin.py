import random
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from functools import lru_cache

from latchwork import Failure, events, step


@dataclass
class Crew:
    names: list[str]
    places: int


@dataclass
class Draw:
    draw: str
    winners: list[str]
    example: list[str]
    valid_until: str


@lru_cache(maxsize=None)
def shown(name):
    return " ".join(part.capitalize() for part in name.split())


@step("Crew.Draw", determinism="stable")
def draw(crew: Crew, context) -> Draw:
    """Draws who may come along."""
    names = sorted({shown(name) for name in crew.names} - {""})
    if not 0 < crew.places <= len(names):
        raise Failure("INVALID_INPUT", f"{crew.places} places for {len(names)} people")
    number = str(uuid.uuid4())
    winners = random.sample(names, crew.places)
    # The brochure shows the same example each time.
    example = random.Random(7).sample(names, crew.places)
    events.emit("drawn", {"draw": number, "by": context.actor, "step": context.step_id})
    until = datetime.now(timezone.utc) + timedelta(days=3)
    return Draw(number, winners, example, until.isoformat(timespec="milliseconds"))
