"""Draws the lots for the lantern watch on a pier: who lights the lantern on which evening."""

import random
import uuid
from dataclasses import dataclass
from typing import Optional

from latchwork import Failure, log, step, tools

TRIES = 3
RETRYABLE = {"NETWORK_TIMEOUT", "RATE_LIMIT", "TEMPORARY_PROVIDER_ERROR", "DEPENDENCY_UNAVAILABLE"}


@dataclass
class Watch:
    volunteers: list[str]
    evenings: list[str]
    per_evening: int
    pier: str


@dataclass
class Evening:
    evening: str
    names: list[str]


@dataclass
class Rota:
    rota_id: str
    drawn_by: str
    wind_knots: Optional[int]
    evenings: list[Evening]


def wind(pier):
    """Asks for the wind a few times. The rota is useful without it, so there is no wind without an answer."""
    for number in range(TRIES):
        try:
            answer = tools.call("Weather.Wind", {"place": pier})
        except Failure as failure:
            if failure.code not in RETRYABLE:
                raise
            log.warn("try %d: no wind for %s", number + 1, pier)
            continue
        knots = answer.get("knots") if isinstance(answer, dict) else None
        return knots if isinstance(knots, int) and 0 <= knots < 300 else None
    return None


@step("Lantern.Draw", determinism="external")
def draw(watch: Watch, context) -> Rota:
    """Draws a rota by lot. A name comes again only after all others had a turn."""
    names = sorted({name.strip() for name in watch.volunteers if name.strip()})
    if not 1 <= watch.per_evening <= len(names):
        raise Failure("INVALID_INPUT", f"{len(names)} volunteers cannot fill {watch.per_evening} places")
    if len(watch.evenings) > 100 or len(names) > 100:
        raise Failure("INVALID_INPUT", "a rota has at most 100 evenings and 100 volunteers")
    knots = wind(watch.pier)

    evenings, hat = [], []
    for evening in watch.evenings:
        chosen = []
        while len(chosen) < watch.per_evening:
            if not hat:
                # Those who are on watch this evening go to the bottom, and are not drawn twice for it.
                rest = [name for name in names if name not in chosen]
                random.shuffle(rest)
                hat = chosen + rest
            chosen.append(hat.pop())
        evenings.append(Evening(evening, sorted(chosen)))
    return Rota(str(uuid.uuid4()), context.actor, knots, evenings)
