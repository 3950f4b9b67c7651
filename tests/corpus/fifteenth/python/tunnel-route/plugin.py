import heapq
from dataclasses import dataclass

from latchwork import Failure, step


@dataclass
class Passage:
    a: str
    b: str
    meters: int


@dataclass
class Trip:
    entrance: str
    goal: str
    passages: list[Passage]


@dataclass
class Route:
    chambers: list[str]
    meters: int
    turns_back: bool


class Chamber:
    """A chamber of the cave with its passages and the best way to it."""

    def __init__(self, name):
        self.name = name
        self.passages = []
        self.meters = None
        self.previous = None
        self.done = False


def cave(passages):
    """Builds the chambers from a list of passages."""
    chambers = {}
    for passage in passages:
        if passage.meters < 1:
            raise Failure("INVALID_INPUT", f"the passage from {passage.a} to {passage.b} has no length")
        for name in (passage.a, passage.b):
            chambers.setdefault(name, Chamber(name))
        a, b = chambers[passage.a], chambers[passage.b]
        a.passages.append((passage.meters, b))
        b.passages.append((passage.meters, a))
    return chambers


@step("Cave.Route")
def route(trip: Trip, context) -> Route:
    """Finds the shortest way through a cave, chamber by chamber."""
    chambers = cave(trip.passages)
    if trip.entrance not in chambers or trip.goal not in chambers:
        raise Failure("INVALID_INPUT", "the entrance or the goal has no passage")
    start, goal = chambers[trip.entrance], chambers[trip.goal]
    start.meters = 0
    # Chambers cannot be compared, so a second value decides between equal lengths.
    waiting = [(0, id(start), start)]
    while waiting:
        meters, _, chamber = heapq.heappop(waiting)
        if chamber.done:
            continue
        chamber.done = True
        for length, next_chamber in chamber.passages:
            total = meters + length
            if next_chamber.meters is None or total < next_chamber.meters:
                next_chamber.meters, next_chamber.previous = total, chamber
                heapq.heappush(waiting, (total, id(next_chamber), next_chamber))
    if goal.meters is None:
        raise Failure("INVALID_INPUT", f"no passage leads from {trip.entrance} to {trip.goal}")
    names, at = [], goal
    while at is not None:
        names.append(at.name)
        at = at.previous
    return Route(names[::-1], goal.meters, len(goal.passages) == 1)
