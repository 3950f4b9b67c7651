"""Plans the transports of a patient service: the most urgent patient that waits goes with the next free vehicle."""

import heapq
from dataclasses import dataclass

from latchwork import Failure, log, step

URGENCY = {"critical": 0, "urgent": 1, "routine": 2}


@dataclass
class Request:
    patient: str
    urgency: str
    minute: int
    minutes: int


@dataclass
class Shift:
    vehicles: list[str]
    requests: list[Request]


@dataclass
class Trip:
    patient: str
    vehicle: str
    start: int
    waited: int


@dataclass
class Plan:
    trips: list[Trip]
    longest_wait: int


def check(shift):
    if not shift.vehicles:
        raise Failure("INVALID_INPUT", "the shift has no vehicle")
    for request in shift.requests:
        if request.urgency not in URGENCY:
            raise Failure("INVALID_INPUT", f"{request.patient}: the urgency {request.urgency} does not exist")
        if request.minutes < 1 or request.minute < 0:
            raise Failure("INVALID_INPUT", f"{request.patient}: the times are not possible")


@step("Dispatch.Plan")
def plan(shift: Shift, context) -> Plan:
    """Assigns the requests of a shift to its vehicles."""
    check(shift)
    coming = sorted(shift.requests, key=lambda request: (request.minute, request.patient), reverse=True)
    free = [(0, number) for number in range(len(shift.vehicles))]
    waiting = []
    trips = []
    while coming or waiting:
        ready, number = heapq.heappop(free)
        # The vehicle idles until it is needed.
        if not waiting:
            ready = max(ready, coming[-1].minute)
        while coming and coming[-1].minute <= ready:
            request = coming.pop()
            # Requests have no order of their own, so something has to stand between the urgency and the request.
            heapq.heappush(waiting, (URGENCY[request.urgency], id(request), request))
        _, _, request = heapq.heappop(waiting)
        trips.append(Trip(request.patient, shift.vehicles[number], ready, ready - request.minute))
        heapq.heappush(free, (ready + request.minutes, number))
    longest = max((trip.waited for trip in trips), default=0)
    log.info("%d trips with %d vehicles, longest wait %d minutes", len(trips), len(shift.vehicles), longest)
    return Plan(trips, longest)
