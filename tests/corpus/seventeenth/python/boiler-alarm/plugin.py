"""Tells the caretaker of a house about the pressure of its boiler."""

from dataclasses import dataclass
from typing import Optional

from latchwork import Failure, log, step, tools

LOW, HIGH, DANGER = 0.8, 2.2, 3.0


@dataclass
class House:
    house: str
    caretaker: str
    bars: list[float]


@dataclass
class Alarm:
    house: str
    state: str
    told: bool
    ticket: Optional[str]


def judged(bars):
    """Returns the state of a boiler by its last three readings."""
    last = bars[-3:]
    if max(last) >= DANGER:
        return "danger"
    if min(last) <= LOW:
        return "low"
    if max(last) >= HIGH:
        return "high"
    return "normal"


def letter(house, state, bars):
    advice = {
        "danger": "Switch the boiler off. The plumber has a ticket.",
        "low": "Add water until the gauge shows 1.5 bar.",
        "high": "Let some water out of the radiator in the cellar.",
    }
    shown = ", ".join(f"{bar:.1f}" for bar in bars[-3:])
    return f"The boiler of {house} has {shown} bar.\n{advice[state]}\n"


def open_ticket(house, bars):
    """Calls the plumber. Returns the number of the ticket."""
    answer = tools.call(
        "Ticket.Open",
        {"queue": "plumber", "title": f"Boiler of {house}", "text": f"Pressure: {max(bars[-3:]):.1f} bar"},
    )
    return answer["ticket"]


@step("Boiler.Alarm", effects=["external_send"], determinism="external")
def alarm(given: House, context) -> Alarm:
    """Writes to the caretaker if the pressure is not normal, and calls the plumber in danger."""
    if not given.bars:
        raise Failure("INVALID_INPUT", f"{given.house}: no readings")
    state = judged(given.bars)
    log.info("%s: %s", given.house, state)
    if state == "normal":
        return Alarm(given.house, state, told=False, ticket=None)
    ticket = open_ticket(given.house, given.bars) if state == "danger" else None
    tools.call(
        "Mail.Send",
        {
            "to": given.caretaker,
            "subject": f"Boiler of {given.house}: {state} pressure",
            "body": letter(given.house, state, given.bars),
        },
    )
    return Alarm(given.house, state, told=True, ticket=ticket)
