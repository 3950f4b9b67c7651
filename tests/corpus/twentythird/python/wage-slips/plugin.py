from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from latchwork import Failure, step

SHIFT = {
    "type": "object",
    "properties": {
        "worker": {"type": "string", "minLength": 1, "maxLength": 60},
        "day": {"type": "string", "pattern": "^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"},
        "minutes": {"type": "integer", "minimum": 1, "maximum": 1440},
        "tags": {"type": "array", "items": {"enum": ["night", "sunday", "cold-store"]}, "maxItems": 6},
    },
    "required": ["worker", "day", "minutes"],
    "additionalProperties": False,
}
INPUT = {
    "type": "object",
    "properties": {
        # Cents for an hour. A text, so that no language rounds it.
        "hourly": {"type": "string", "pattern": "^[0-9]{1,12}([.][0-9]{1,4})?$"},
        "shifts": {"type": "array", "items": SHIFT, "maxItems": 400},
    },
    "required": ["hourly", "shifts"],
    "additionalProperties": False,
}

# Extra pay in percent.
EXTRA = {"night": 25, "sunday": 50, "cold-store": 10}
CENT = Decimal("1")


@dataclass
class Slip:
    worker: str
    minutes: int
    days: list[str]
    tags: list[str]
    cents: str


@dataclass
class Wages:
    slips: list[Slip]
    cents: str


def pay(hourly, minutes, tags):
    """Pay of one shift in cents, not rounded."""
    percent = 100 + sum(EXTRA[tag] for tag in tags)
    return hourly * minutes * percent / 6000


def checked(shifts):
    """The shifts by worker. The minutes of a worker on one day have to fit into the day."""
    by_worker, by_day = {}, {}
    for shift in shifts:
        place = (shift["worker"], shift["day"])
        by_day[place] = by_day.get(place, 0) + shift["minutes"]
        if by_day[place] > 1440:
            raise Failure("INVALID_INPUT", f"{shift['worker']} has more than 24 hours on {shift['day']}")
        by_worker.setdefault(shift["worker"], []).append(shift)
    return by_worker


@step("Wage.Slips", input=INPUT)
def slips(order: dict, context) -> Wages:
    """Computes the wage slips of a bakery from the shifts of a month."""
    hourly = Decimal(order["hourly"])
    made, total = [], Decimal(0)
    for worker, shifts in sorted(checked(order["shifts"]).items()):
        exact, days, seen = Decimal(0), set(), set()
        for shift in shifts:
            # A tag counts once for a shift.
            tags = set(shift.get("tags", []))
            exact += pay(hourly, shift["minutes"], tags)
            days.add(shift["day"])
            seen |= tags
        cents = exact.quantize(CENT, rounding=ROUND_HALF_UP)
        total += cents
        minutes = sum(shift["minutes"] for shift in shifts)
        # Sets have no order that another build keeps, so both are sorted.
        made.append(Slip(worker, minutes, sorted(days), sorted(seen), f"{cents:f}"))
    return Wages(made, f"{total:f}")
