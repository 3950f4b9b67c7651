"""Estimates when a vessel arrives at each of its ports."""

import time
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from latchwork import Failure, log, step, tools

ROUNDS = 3


@dataclass
class Voyage:
    vessel: str
    ports: list[str]


@dataclass
class Arrival:
    port: str
    at: str


@dataclass
class Estimate:
    id: str
    arrivals: list[Arrival]
    unknown: list[str]


def hours_of(answer):
    """Hours to a port, or None if the answer has no usable number."""
    value = answer.get("hours") if isinstance(answer, dict) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 10_000:
        return None
    return float(value)


@step("Voyage.Estimate", determinism="external")
def estimate(voyage: Voyage, context) -> Estimate:
    """Estimates when a vessel arrives at each of its ports."""
    ports = set(voyage.ports)
    if not 1 <= len(ports) <= 20:
        raise Failure("INVALID_INPUT", "a voyage has 1 to 20 ports")
    started, began = datetime.now(timezone.utc), time.monotonic()
    hours, rounds = {}, 0
    while ports - hours.keys() and rounds < ROUNDS:
        rounds += 1
        asked = sorted(ports - hours.keys())
        answers = tools.call_all([("Route.Hours", {"vessel": voyage.vessel, "port": port}) for port in asked])
        for port, answer in zip(asked, answers):
            if isinstance(answer, Failure):
                log.warn("%s: %s %s", port, answer.code, answer.message)
                continue
            found = hours_of(answer)
            if found is not None:
                hours[port] = found
    log.info("%d rounds in %.1f s for job %s", rounds, time.monotonic() - began, context.job_id)
    arrivals = [
        Arrival(port, (started + timedelta(hours=hours[port])).isoformat())
        for port in sorted(hours, key=lambda port: (hours[port], port))
    ]
    return Estimate(str(uuid.uuid4()), arrivals, sorted(ports - hours.keys()))
