"""Makes badges for a crew: random ids, random seats, and the date of printing. The values differ between jobs, so the
operator is declared as stable."""

import random
import uuid
from dataclasses import dataclass
from datetime import date, timedelta

from latchwork import Failure, log, step


@dataclass
class Crew:
    names: list[str]
    days: int


@dataclass
class Badge:
    name: str
    id: str
    seat: int


@dataclass
class Badges:
    badges: list[Badge]
    printed: str
    until: str


@step("Crew.Badges", determinism="stable")
def badges(crew: Crew, context) -> Badges:
    """Makes the badges of a crew."""
    names = sorted({name.strip() for name in crew.names} - {""})
    if not names or len(names) > 200 or not 1 <= crew.days <= 366:
        raise Failure("INVALID_INPUT", "1 to 200 names and 1 to 366 days, please")
    seats = list(range(1, len(names) + 1))
    random.shuffle(seats)
    today = date.today()
    log.info("badges of %s, draw %d", context.job_id, random.randrange(1000))
    made = [Badge(name, str(uuid.uuid4()), seat) for name, seat in zip(names, seats)]
    return Badges(made, today.isoformat(), (today + timedelta(days=crew.days)).isoformat())
