import random
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from latchwork import Failure, log, step


@dataclass
class Players:
    names: list[str]
    minutes: int = 20


@dataclass
class Meeting:
    players: list[str]
    starts_at: str


@dataclass
class Plan:
    id: str
    meetings: list[Meeting]


# The class is `stable`: each job draws other pairs for equal names.
@step("Rehearsal.Pair", determinism="stable")
def pair(players: Players, context) -> Plan:
    """Draws pairs of players that rehearse together, one pair after the other."""
    if not 5 <= players.minutes <= 120:
        raise Failure("INVALID_INPUT", "a rehearsal takes 5 to 120 minutes")
    names = sorted({name.strip() for name in players.names} - {""})
    if not 2 <= len(names) <= 200:
        raise Failure("INVALID_INPUT", "2 to 200 players can be paired")
    random.shuffle(names)
    groups = [names[i : i + 2] for i in range(0, len(names) - 1, 2)]
    if len(names) % 2:
        groups[-1].append(names[-1])
    start = datetime.now(timezone.utc).replace(second=0, microsecond=0) + timedelta(minutes=15)
    log.info("%d pairs drawn for %s", len(groups), context.actor)
    meetings = [
        Meeting(sorted(group), (start + timedelta(minutes=players.minutes * place)).isoformat())
        for place, group in enumerate(groups)
    ]
    return Plan(str(uuid.uuid4()), meetings)
