"""When a measuring instrument has to go to the calibration lab."""

import calendar
from dataclasses import dataclass, field
from datetime import date

from latchwork import Failure, step


@dataclass
class Instrument:
    serial: str
    calibrated_on: str
    interval_months: int
    # Day for which the answer is wanted, as YYYY-MM-DD.
    as_of: str = field(default_factory=lambda: date.today().isoformat())


@dataclass
class Due:
    serial: str
    due_on: str
    days_left: int
    state: str


def add_months(day, months):
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return date(year, month + 1, min(day.day, last))


def parse(name, text):
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise Failure("INVALID_INPUT", f"{name} is not a date: {text}")


@step("Gauge.CalibrationDue")
def due(instrument: Instrument, context) -> Due:
    """Computes when an instrument has to be calibrated again."""
    if not 1 <= instrument.interval_months <= 120:
        raise Failure("INVALID_INPUT", "the interval has to be between 1 and 120 months")
    calibrated = parse("calibrated_on", instrument.calibrated_on)
    as_of = parse("as_of", instrument.as_of)
    if not 1950 <= calibrated.year <= 2200:
        raise Failure("INVALID_INPUT", f"unlikely year {calibrated.year}")
    due_on = add_months(calibrated, instrument.interval_months)
    left = (due_on - as_of).days
    state = "overdue" if left < 0 else "soon" if left <= 30 else "valid"
    return Due(instrument.serial, due_on.isoformat(), left, state)
