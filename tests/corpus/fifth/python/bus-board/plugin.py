"""Makes the board of a bus stop: the next departure of each line, and the time of the board. All lines are asked at the
same time, and a line that does not answer is listed as silent."""

from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import Failure, step, tools


@dataclass
class Stop:
    stop: str
    lines: list[str]


@dataclass
class Departure:
    line: str
    minutes: int


@dataclass
class Board:
    at: str
    departures: list[Departure]
    silent: list[str]


def minutes_of(answer):
    minutes = answer.get("minutes") if isinstance(answer, dict) else None
    return minutes if type(minutes) is int and 0 <= minutes < 1440 else None


@step("Bus.Board", determinism="external")
def board(stop: Stop, context) -> Board:
    """Makes the board of a bus stop."""
    lines = sorted(set(stop.lines))
    if not lines:
        raise Failure("INVALID_INPUT", "the stop has no lines")
    answers = tools.call_all([("Line.Next", {"line": line, "stop": stop.stop}) for line in lines])
    departures, silent = [], []
    for line, answer in zip(lines, answers):
        minutes = minutes_of(answer)
        if minutes is None:
            silent.append(line)
        else:
            departures.append(Departure(line, minutes))
    if not departures:
        raise Failure("DEPENDENCY_UNAVAILABLE", f"no line of {stop.stop} has a departure")
    departures.sort(key=lambda departure: (departure.minutes, departure.line))
    return Board(datetime.now(timezone.utc).isoformat(), departures, silent)
