"""Compares a bus line with the same line during a road closure."""

from dataclasses import dataclass
from typing import Optional

from latchwork import Failure, step


@dataclass
class Leg:
    stop: str
    minutes: int


@dataclass
class Request:
    legs: list[Leg]
    closed: list[str]
    penalty: int


@dataclass
class Comparison:
    regular: int
    detour: int
    skipped: list[str]
    affected: bool


@dataclass
class Stop:
    name: str
    minutes: int
    after: Optional["Stop"] = None


def linked(legs):
    head = last = Stop("depot", 0)
    for leg in legs:
        last.after = Stop(leg.stop, leg.minutes)
        last = last.after
    return head


def duration(head):
    total = 0
    while head is not None:
        total += head.minutes
        head = head.after
    return total


def detoured(head, closed, penalty):
    skipped = []
    stop = head
    while stop.after is not None:
        if stop.after.name in closed:
            skipped.append(stop.after.name)
            stop.minutes += penalty
            stop.after = stop.after.after
        else:
            stop = stop.after
    return skipped


@step("Detour.Compare")
def compare(request: Request, context) -> Comparison:
    """Compares the running time of a line with and without closed stops."""
    if request.penalty < 0:
        raise Failure("INVALID_INPUT", "the penalty is negative")
    regular = linked(request.legs)
    changed = linked(request.legs)
    skipped = detoured(changed, frozenset(request.closed), request.penalty)
    return Comparison(duration(regular), duration(changed), skipped, changed != regular)
