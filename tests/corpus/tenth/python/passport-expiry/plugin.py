from dataclasses import dataclass
from datetime import date, timedelta
from typing import Optional

from latchwork import Failure, step

# Validity that a country demands after the day of arrival.
MARGIN_DAYS = {"half-year": 183, "quarter": 92, "stay": 0}


@dataclass
class Journey:
    passport_expires: str
    rule: str
    nights: int
    arrival: Optional[str] = None


@dataclass
class Verdict:
    accepted: bool
    needed_until: str
    spare_days: int


def day(text, what):
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise Failure("INVALID_INPUT", f"{what}: {text!r} is no date") from None


@step("Passport.Check")
def check(journey: Journey, context) -> Verdict:
    """Checks whether a passport is valid long enough for a journey."""
    margin = MARGIN_DAYS.get(journey.rule)
    if margin is None:
        raise Failure("INVALID_INPUT", f"unknown rule {journey.rule}")
    if not 0 <= journey.nights <= 365:
        raise Failure("INVALID_INPUT", "a journey has 0 to 365 nights")
    expires = day(journey.passport_expires, "passport")
    # Without a date the traveller wants to leave at once.
    arrival = day(journey.arrival, "arrival") if journey.arrival else date.today()
    if arrival.year > 9000:
        raise Failure("INVALID_INPUT", "the arrival is too far away")
    needed = arrival + timedelta(days=max(margin, journey.nights))
    return Verdict(expires >= needed, needed.isoformat(), (expires - needed).days)
