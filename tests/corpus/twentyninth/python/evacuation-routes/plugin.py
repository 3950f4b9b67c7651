"""Routes out of a building: from each room to the nearest exit, along corridors and stairs."""

import heapq
from dataclasses import dataclass

from latchwork import Failure, step


@dataclass
class Passage:
    a: str
    b: str
    metres: int
    stairs: bool = False


@dataclass
class Building:
    name: str
    exits: list[str]
    passages: list[Passage]
    rooms: list[str]


@dataclass
class Route:
    room: str
    cost: int
    path: list[str]


@dataclass
class Plan:
    building: str
    routes: list[Route]
    cut_off: list[str]


class Place:
    """A room, a landing or an exit, and the way from it to the nearest exit."""

    __slots__ = ("name", "ways", "cost", "towards")

    def __init__(self, name):
        self.name = name
        self.ways = []
        self.cost = None
        self.towards = None


def places_of(building):
    places = {}
    for passage in building.passages:
        if passage.metres < 1:
            raise Failure("INVALID_INPUT", f"the passage {passage.a} - {passage.b} has no length")
        # Stairs are slow: a metre of stairs counts as three.
        cost = passage.metres * 3 if passage.stairs else passage.metres
        a = places.setdefault(passage.a, Place(passage.a))
        b = places.setdefault(passage.b, Place(passage.b))
        a.ways.append((b, cost))
        b.ways.append((a, cost))
    return places


def spread(places, exits):
    """Dijkstra from all exits at once."""
    queue = []
    for name in exits:
        place = places[name]
        place.cost = 0
        # Places have no order, so a number that no other place has comes between the cost and the place.
        heapq.heappush(queue, (0, id(place), place))
    while queue:
        cost, _, place = heapq.heappop(queue)
        if cost > place.cost:
            continue
        for neighbour, length in place.ways:
            if neighbour.cost is None or cost + length < neighbour.cost:
                neighbour.cost = cost + length
                neighbour.towards = place
                heapq.heappush(queue, (neighbour.cost, id(neighbour), neighbour))


@step("Evacuation.Plan")
def plan(building: Building, context) -> Plan:
    """Plans the routes from the rooms of a building to its exits."""
    places = places_of(building)
    for name in [*building.exits, *building.rooms]:
        if name not in places:
            raise Failure("INVALID_INPUT", f"no passage leads to {name}")
    if not building.exits:
        raise Failure("INVALID_INPUT", f"{building.name} has no exit")
    spread(places, building.exits)

    routes, cut_off = [], []
    for name in building.rooms:
        place = places[name]
        if place.cost is None:
            cut_off.append(name)
            continue
        path = [name]
        while place.towards is not None:
            place = place.towards
            path.append(place.name)
        routes.append(Route(name, places[name].cost, path))
    return Plan(building.name, routes, cut_off)
