import hashlib
import random
from dataclasses import dataclass

from latchwork import Failure, step


@dataclass
class Cup:
    name: str
    season: int
    teams: list[str]


@dataclass
class Match:
    home: str
    guest: str


@dataclass
class Bracket:
    matches: list[Match]
    bye: list[str]


@step("BracketDraw.Draw", determinism="pure")
def draw(cup: Cup, context) -> Bracket:
    """Draws the first round of a cup."""
    teams = sorted(set(cup.teams))
    if len(teams) < 2:
        raise Failure("INVALID_INPUT", "a cup needs two different teams")
    seed = hashlib.sha256(f"{cup.name}/{cup.season}".encode()).digest()
    generator = random.Random(int.from_bytes(seed[:8], "big"))
    generator.shuffle(teams)
    byes = teams[len(teams) // 2 * 2 :]
    pairs = zip(teams[0::2], teams[1::2])
    return Bracket([Match(home, guest) for home, guest in pairs], byes)
