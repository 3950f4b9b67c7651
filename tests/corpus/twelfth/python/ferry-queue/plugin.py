"""Decides the order in which vehicles drive onto a car ferry, and the lane of each vehicle."""

import heapq
from dataclasses import dataclass
from typing import Literal

from latchwork import Failure, step

# Smaller numbers drive on first.
RANK = {"emergency": 0, "resident": 1, "booked": 2, "standby": 3}


@dataclass
class Vehicle:
    plate: str
    kind: Literal["emergency", "resident", "booked", "standby"]
    length_cm: int
    arrived_minute: int


@dataclass
class Crossing:
    lanes: int
    lane_cm: int
    vehicles: list[Vehicle]


@dataclass
class Place:
    plate: str
    lane: int


@dataclass
class Loading:
    loaded: list[Place]
    left_behind: list[str]


class Deck:
    """Lanes of the car deck with their free length."""

    def __init__(self, lanes, lane_cm):
        self.free = [lane_cm] * lanes

    def place(self, length):
        """Returns the number of the emptiest lane, from 1, or None if the vehicle fits nowhere."""
        best = max(range(len(self.free)), key=lambda lane: self.free[lane])
        if self.free[best] < length:
            return None
        self.free[best] -= length
        return best + 1


@step("Ferry.Load")
def load(crossing: Crossing, context) -> Loading:
    """Assigns the waiting vehicles to the lanes of a ferry."""
    if not 1 <= crossing.lanes <= 20 or not 1 <= crossing.lane_cm <= 50_000:
        raise Failure("INVALID_INPUT", "a ferry has 1 to 20 lanes of at most 500 m")
    queue = []
    for vehicle in crossing.vehicles:
        if vehicle.length_cm < 1:
            raise Failure("INVALID_INPUT", f"{vehicle.plate} has no length")
        # The id keeps heapq from comparing two vehicles, which have no order.
        heapq.heappush(queue, (RANK[vehicle.kind], vehicle.arrived_minute, id(vehicle), vehicle))

    deck, loaded, left_behind = Deck(crossing.lanes, crossing.lane_cm), [], []
    while queue:
        *_, vehicle = heapq.heappop(queue)
        lane = deck.place(vehicle.length_cm)
        if lane is None:
            left_behind.append(vehicle.plate)
        else:
            loaded.append(Place(vehicle.plate, lane))
    return Loading(loaded, left_behind)
