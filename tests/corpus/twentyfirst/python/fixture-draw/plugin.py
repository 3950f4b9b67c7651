import hashlib
import random
from dataclasses import dataclass

from latchwork import Failure, step


@dataclass
class League:
    name: str
    season: int
    teams: list[str]


@dataclass
class Match:
    home: str
    away: str


@dataclass
class Fixtures:
    draw: str
    rounds: list[list[Match]]
    free: dict[str, int]


def seed_of(league, teams):
    """A number that follows from the league alone, so that everyone can repeat the draw."""
    text = "\n".join([league.name, str(league.season), *teams])
    return hashlib.sha256(text.encode()).hexdigest()


def paired(places):
    """The matches of one round: the first against the last, and so on. None is a free day."""
    half = len(places) // 2
    return [(a, b) for a, b in zip(places[:half], reversed(places[half:])) if a is not None and b is not None]


@step("Fixtures.Draw")
def draw(league: League, context) -> Fixtures:
    """Draws the fixtures of a season in which each team meets each other team once."""
    names = {team.strip() for team in league.teams}
    if "" in names:
        raise Failure("INVALID_INPUT", "a team has no name")
    if any(len(name) > 60 for name in names):
        raise Failure("INVALID_INPUT", "the name of a team has more than 60 characters")
    if len(names) < len(league.teams):
        raise Failure("INVALID_INPUT", "a team is listed twice")
    if not 2 <= len(names) <= 40:
        raise Failure("INVALID_INPUT", "a league has 2 to 40 teams")
    # The set has no useful order: sort it before the generator, with a seed of its own, shuffles it.
    teams = sorted(names)
    seed = seed_of(league, teams)
    places = list(teams)
    random.Random(seed).shuffle(places)
    if len(places) % 2:
        places.append(None)
    rounds = []
    free = {team: 0 for team in teams} if None in places else {}
    for number in range(len(places) - 1):
        pairs = paired(places)
        busy = {team for pair in pairs for team in pair}
        for team in free:
            if team not in busy:
                free[team] = number + 1
        rounds.append([Match(b, a) if number % 2 else Match(a, b) for a, b in pairs])
        places = [places[0], places[-1], *places[1:-1]]
    return Fixtures(seed[:12], rounds, free)
