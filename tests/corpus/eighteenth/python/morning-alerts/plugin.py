from dataclasses import dataclass
from typing import Optional

from latchwork import Failure, step, tools


@dataclass
class Reading:
    ward: str
    celsius: float


@dataclass
class Round:
    day: str
    duty_phone: str
    warm_above: float
    readings: list[Reading]


@dataclass
class Done:
    entry: str
    warm: list[str]
    message: Optional[str] = None


def lines_of(readings):
    return [f"{reading.ward}: {reading.celsius:.1f} °C" for reading in readings]


@step("Fridges.Morning", effects=["internal_write"], determinism="external")
def morning(given: Round, context) -> Done:
    """Keeps the morning temperatures of the medicine fridges, and alerts the duty technician about warm ones."""
    if not given.readings:
        raise Failure("INVALID_INPUT", f"there are no readings of {given.day}")
    wards = [reading.ward for reading in given.readings]
    for ward in wards:
        if wards.count(ward) > 1:
            raise Failure("INVALID_INPUT", f"ward {ward} has two readings")
    # The diary of the hospital has one entry for each day.
    entry = tools.call("Diary.Keep", {"title": f"Fridges {given.day}", "lines": lines_of(given.readings)})
    warm = [reading for reading in given.readings if reading.celsius > given.warm_above]
    if not warm:
        return Done(str(entry["id"]), [])
    text = f"Warm fridges on {given.day}: " + "; ".join(lines_of(warm))
    sent = tools.call("Sms.Send", {"to": given.duty_phone, "text": text})
    return Done(str(entry["id"]), [reading.ward for reading in warm], str(sent["id"]))
