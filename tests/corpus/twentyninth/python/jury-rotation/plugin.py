"""Rotation of the jurors of a festival. The draw is public: everybody who knows the seed can repeat it."""

import random
from collections import defaultdict
from dataclasses import dataclass

from latchwork import Failure, step


@dataclass
class Festival:
    name: str
    seed: str
    jurors: list[str]
    sessions: int
    seats: int


@dataclass
class Session:
    number: int
    jurors: list[str]
    chair: str


@dataclass
class Rotation:
    festival: str
    sessions: list[Session]
    services: dict[str, int]
    idle: list[str]


# Rotations that were tried in this run, by the arguments of `rotate`. Equal arguments give the same rotation each time.
tried = {}


def rotate(seed, jurors, sessions, seats):
    arguments = seed, tuple(jurors), sessions, seats
    if arguments in tried:
        return tried[arguments]
    # A generator with a seed of its own: it takes nothing from the job.
    draw = random.Random(seed)
    services = dict.fromkeys(jurors, 0)
    rotation = []
    for _ in range(sessions):
        # Jurors with the fewest services come first. The draw decides among equals.
        ranked = sorted(jurors, key=lambda juror: (services[juror], draw.random()))
        chosen = ranked[:seats]
        for juror in chosen:
            services[juror] += 1
        rotation.append(chosen)
    tried[arguments] = rotation
    return rotation


def repeats(rotation):
    """How often two jurors meet a second time."""
    met = defaultdict(int)
    for chosen in rotation:
        for place, one in enumerate(chosen):
            for other in chosen[place + 1:]:
                met[frozenset((one, other))] += 1
    return sum(times - 1 for times in met.values())


@step("Jury.Rotate")
def rotate_jury(festival: Festival, context) -> Rotation:
    """Draws the juries of the sessions of a festival."""
    if not 1 <= festival.seats <= 9 or not 1 <= festival.sessions <= 60 or len(festival.jurors) > 120:
        raise Failure("INVALID_INPUT", "a festival has at most 60 sessions, 9 seats and 120 jurors")
    known = set(festival.jurors)
    if len(known) != len(festival.jurors):
        twice = sorted(juror for juror in known if festival.jurors.count(juror) > 1)
        raise Failure("INVALID_INPUT", f"named twice: {', '.join(twice)}", detail={"twice": twice})
    if festival.seats > len(known):
        raise Failure("INVALID_INPUT", f"{festival.seats} seats need more than {len(known)} jurors")

    # Eight draws, numbered after the seed. The draw in which the fewest jurors meet twice wins, the first of equals.
    jurors = sorted(known)
    seeds = [f"{festival.seed}/{number}" for number in range(8)]
    best = min(seeds, key=lambda seed: repeats(rotate(seed, jurors, festival.sessions, festival.seats)))
    rotation = rotate(best, jurors, festival.sessions, festival.seats)
    services = {juror: sum(juror in chosen for chosen in rotation) for juror in jurors}
    sessions = [Session(number, sorted(chosen), chosen[0]) for number, chosen in enumerate(rotation, 1)]
    return Rotation(festival.name, sessions, services, [juror for juror in jurors if services[juror] == 0])
