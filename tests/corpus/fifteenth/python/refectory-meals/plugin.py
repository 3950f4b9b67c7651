from dataclasses import dataclass
from datetime import date
from typing import Literal

from latchwork import Change, Failure, Output, kv, tool

# Seats of the refectory. More meals in one sitting are a typing error.
SEATS = 140


@dataclass
class Sitting:
    day: str
    meal: Literal["breakfast", "lunch", "supper"]
    plates: int
    guests: int = 0


@dataclass
class Total:
    day: str
    meal: str
    plates_today: int
    over_plan: bool


# Plates that the kitchen plans for each meal.
PLAN = {"breakfast": 120, "lunch": 260, "supper": 180}


def checked_day(text):
    """Returns the day in the form YYYY-MM-DD."""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise Failure("INVALID_INPUT", f"{text[:40]} is not a day") from None


@tool("Refectory.Serve", output=Total, effects=["internal_write"])
def serve(sitting: Sitting, context):
    """Adds the plates of a sitting to the count of the day."""
    day = checked_day(sitting.day)
    plates = sitting.plates + sitting.guests
    if sitting.guests < 0 or not 1 <= plates <= SEATS:
        raise Failure("INVALID_INPUT", f"a sitting has 1 to {SEATS} plates, not {plates}")
    name = f"plates/{day}/{sitting.meal}"
    stored = kv.get(name)
    total = plates + (0 if stored is None else int(stored))
    kv.set(name, str(total))
    return Output(
        Total(day, sitting.meal, total, total > PLAN[sitting.meal]),
        receipt={"plates": plates},
        changes=[Change("plate-count", f"{day}/{sitting.meal}", "update", version=str(total))],
    )
