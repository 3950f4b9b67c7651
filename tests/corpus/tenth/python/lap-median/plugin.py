import statistics
from dataclasses import dataclass

from latchwork import Failure, step


@dataclass
class Lap:
    number: int
    millis: int
    pit_stop: bool = False


@dataclass
class Stint:
    driver: str
    laps: list[Lap]


@dataclass
class Pace:
    driver: str
    counted: int
    best_millis: int
    median_millis: int
    best_lap: int


@step("Lap.Pace")
def pace(stint: Stint, context) -> Pace:
    """Computes the pace of a stint from its laps without pit stops."""
    counted = [lap for lap in stint.laps if not lap.pit_stop]
    if not counted:
        raise Failure("INVALID_INPUT", f"{stint.driver} has no lap that counts")
    if any(lap.millis <= 0 for lap in counted):
        raise Failure("INVALID_INPUT", "a lap takes more than no time")
    best = min(counted, key=lambda lap: (lap.millis, lap.number))
    return Pace(
        driver=stint.driver,
        counted=len(counted),
        best_millis=best.millis,
        median_millis=statistics.median(lap.millis for lap in counted),
        best_lap=best.number,
    )
