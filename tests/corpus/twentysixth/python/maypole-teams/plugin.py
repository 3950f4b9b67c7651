import hashlib
import json
import random
from dataclasses import dataclass

from latchwork import Failure, step


@dataclass
class Dancer:
    name: str
    village: str


@dataclass
class Fair:
    fair: str
    teams: int
    dancers: list[Dancer]


@dataclass
class Team:
    dancers: list[str]
    villages: list[str]


@dataclass
class Drawn:
    teams: list[Team]


def generator(fair):
    """Returns a generator that follows from the input alone: everyone can draw again and compare."""
    text = json.dumps([fair.fair, fair.teams, sorted([one.name, one.village] for one in fair.dancers)])
    return random.Random(int.from_bytes(hashlib.sha256(text.encode()).digest(), "big"))


@step("Maypole.Teams")
def teams(fair: Fair, context) -> Drawn:
    """Draws the teams of a dance around the maypole, and spreads each village over the teams."""
    if not 1 <= fair.teams <= 40:
        raise Failure("INVALID_INPUT", f"{fair.teams} teams do not fit around the maypole")
    if len(fair.dancers) < fair.teams:
        raise Failure("INVALID_INPUT", "there are fewer dancers than teams")
    if len({(one.name, one.village) for one in fair.dancers}) < len(fair.dancers):
        raise Failure("INVALID_INPUT", "a dancer is listed twice")

    chance = generator(fair)
    queue = []
    for village in sorted({one.village for one in fair.dancers}):
        names = sorted(one.name for one in fair.dancers if one.village == village)
        chance.shuffle(names)
        queue += [Dancer(name, village) for name in names]

    drawn = [queue[at::fair.teams] for at in range(fair.teams)]
    return Drawn([Team([one.name for one in team], sorted({one.village for one in team})) for team in drawn])
