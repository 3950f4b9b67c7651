from collections import Counter
from dataclasses import dataclass

from latchwork import Failure, step


@dataclass
class Parcel:
    id: str
    zip: str


@dataclass
class Day:
    depots: list[str]
    parcels: list[Parcel]


@dataclass
class Tour:
    parcel: str
    depot: str


@dataclass
class Plan:
    tours: list[Tour]
    busiest: str


@step("DepotShard.Assign", determinism="pure")
def assign(day: Day, context) -> Plan:
    """Assigns the parcels of a day to depots, those of one district always to the same depot."""
    if not day.depots or not day.parcels:
        raise Failure("INVALID_INPUT", "there are no depots or no parcels")
    depots = sorted(set(day.depots))
    tours = [Tour(one.id, depots[hash(one.zip[:3]) % len(depots)]) for one in day.parcels]
    load = Counter(tour.depot for tour in tours)
    busiest = max(sorted(load), key=load.__getitem__)
    return Plan(tours, busiest)
