"""Joins the stages of a trek into days of walking."""

from dataclasses import dataclass

from latchwork import Failure, step

MAX_STAGES = 500


@dataclass
class Stage:
    start: str
    end: str
    metres: int
    climb: int


@dataclass
class Trek:
    stages: list[Stage]
    # Walking time of a day, in minutes.
    minutes: int = 420


@dataclass
class Day:
    start: str
    end: str
    minutes: int
    stages: int


@dataclass
class Itinerary:
    days: list[Day]
    metres: int


class Leg:
    """A stage with its walking time: 4 km an hour on the map, and 400 m of climb an hour."""

    def __init__(self, stage):
        if stage.metres <= 0 or stage.metres > 200_000 or not 0 <= stage.climb <= 9000:
            raise Failure("INVALID_INPUT", f"the stage from {stage.start} to {stage.end} has no walkable length")
        self.start, self.end, self.metres = stage.start.strip(), stage.end.strip(), stage.metres
        self.minutes = -(-stage.metres * 60 // 4000) + -(-stage.climb * 60 // 400)

    def __str__(self):
        return f"{self.start} to {self.end}"


@step("Trek.Plan")
def plan(trek: Trek, context) -> Itinerary:
    """Plans the days of a trek. No stage is split."""
    if not trek.stages or len(trek.stages) > MAX_STAGES:
        raise Failure("INVALID_INPUT", f"a trek has 1 to {MAX_STAGES} stages")
    legs = [Leg(stage) for stage in trek.stages]
    gaps = [leg for before, leg in zip(legs, legs[1:]) if before.end != leg.start]
    if gaps:
        raise Failure("INVALID_INPUT", f"stages that do not begin where the stage before ends: {gaps}")
    for leg in legs:
        if leg.minutes > trek.minutes:
            raise Failure("INVALID_INPUT", f"{leg} takes {leg.minutes} minutes, longer than a day")
    days = []
    for leg in legs:
        if days and days[-1].minutes + leg.minutes <= trek.minutes:
            days[-1].end = leg.end
            days[-1].minutes += leg.minutes
            days[-1].stages += 1
        else:
            days.append(Day(leg.start, leg.end, leg.minutes, 1))
    print(f"{len(days)} days from {legs[0].start} to {legs[-1].end}")
    return Itinerary(days, sum(leg.metres for leg in legs))
