"""Times that vehicles spend at a ferry terminal, by the day on which they left or were last seen."""

import time
from dataclasses import dataclass
from statistics import median
from typing import Optional

from latchwork import Failure, step


@dataclass
class Stay:
    plate: str
    arrived: int
    seen: Optional[int] = None
    left: Optional[int] = None


@dataclass
class Terminal:
    name: str
    stays: list[Stay]


@dataclass
class Day:
    day: str
    vehicles: int
    median_minutes: Optional[float]
    plates: list[str]


@dataclass
class Dwell:
    terminal: str
    days: list[Day]
    open: int


def last_sign(stay):
    """The end of a stay: the gate has noted the departure, or else a camera has seen the vehicle."""
    return stay.left or stay.seen


def day_of(stamp):
    return time.strftime("%Y-%m-%d", time.gmtime(stamp))


def minutes(stay):
    return (stay.left - stay.arrived) / 60


def summary(day, stays):
    whole = [minutes(stay) for stay in stays if stay.left is not None]
    return Day(day, len(stays), round(median(whole), 1) if whole else None, sorted(stay.plate for stay in stays))


@step("Terminal.Dwell", determinism="pure")
def dwell(terminal: Terminal, context) -> Dwell:
    """Summarizes the stays of vehicles at a ferry terminal by day."""
    days = {}
    for stay in terminal.stays:
        if stay.left is not None and stay.left < stay.arrived:
            raise Failure("INVALID_INPUT", f"{stay.plate} left before it arrived")
        if stay.seen is not None and stay.seen < stay.arrived:
            raise Failure("INVALID_INPUT", f"{stay.plate} was seen before it arrived")
        days.setdefault(day_of(last_sign(stay)), []).append(stay)
    still = sum(stay.left is None for stay in terminal.stays)
    print(f"{terminal.name}: {len(terminal.stays)} stays, {still} open")
    return Dwell(terminal.name, [summary(day, days[day]) for day in sorted(days)], still)
