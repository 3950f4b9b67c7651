from dataclasses import dataclass
from datetime import date

from latchwork import Failure, step, tools

SWAP = {
    "type": "object",
    "properties": {
        "ward": {"type": "string", "minLength": 1, "maxLength": 40},
        "day": {"type": "string", "pattern": "^20[0-9]{2}-[0-9]{2}-[0-9]{2}$"},
        "shift": {"enum": ["early", "late", "night"]},
        "gives": {"type": "string", "minLength": 1, "maxLength": 60},
        "takes": {"type": "string", "minLength": 1, "maxLength": 60},
        "phone": {"type": "string", "pattern": "^\\+[0-9]{6,15}$"},
    },
    "required": ["ward", "day", "shift", "gives", "takes"],
    "additionalProperties": False,
}


@dataclass
class Swapped:
    recorded: bool
    hours: int
    informed: bool


HOURS = {"early": 8, "late": 8, "night": 10}


def weekly_hours(ward, person, day):
    """Returns the hours of a person in the week of the day, as the roster has them."""
    year, week, _ = day.isocalendar()
    answer = tools.call("Roster.Hours", {"ward": ward, "person": person, "week": f"{year}-W{week:02d}"})
    hours = answer.get("hours") if isinstance(answer, dict) else None
    if type(hours) is not int or not 0 <= hours <= 168:
        raise Failure("DEPENDENCY_UNAVAILABLE", f"the roster has no usable hours of {person}")
    return hours


# The roster is a map of its tool, so the swap is an internal write.
@step("Shift.Swap", input=SWAP, effects=["internal_write"], determinism="external")
def swap(wish, context) -> Swapped:
    """Enters the swap of a shift between two nurses, if the rules about working hours allow it."""
    try:
        day = date.fromisoformat(wish["day"])
    except ValueError:
        raise Failure("INVALID_INPUT", f"{wish['day']} is no date") from None
    if wish["gives"] == wish["takes"]:
        raise Failure("INVALID_INPUT", "a swap needs two people")

    hours = weekly_hours(wish["ward"], wish["takes"], day) + HOURS[wish["shift"]]
    if hours > 48:
        raise Failure("POLICY_DENIED", f"{wish['takes']} would work {hours} hours in this week")

    place = {"ward": wish["ward"], "day": wish["day"], "shift": wish["shift"]}
    key = [wish["ward"], wish["day"], wish["shift"], wish["gives"], wish["takes"]]
    tools.call("Roster.Enter", {**place, "out": wish["gives"], "in": wish["takes"]}, action_key=repr(["swap", *key]))

    informed = False
    if "phone" in wish:
        text = f"{wish['takes']}, you have the {wish['shift']} shift on {wish['day']}, ward {wish['ward']}."
        tools.call("Text.Send", {"to": wish["phone"], "text": text}, action_key=repr(["swap text", wish["phone"], *key]))
        informed = True
    return Swapped(True, hours, informed)
