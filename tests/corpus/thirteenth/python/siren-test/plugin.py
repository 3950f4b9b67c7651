"""Books the yearly siren test in the districts of a town, each district once."""

from dataclasses import dataclass
from datetime import date

from latchwork import Failure, events, log, step, tools

MAX_DISTRICTS = 60


@dataclass
class Round:
    """A round of siren tests. `day` is an ISO date, `signal` the tone that is played."""

    day: str
    signal: str
    districts: list[str]


@dataclass
class Booked:
    day: str
    booked: list[str]
    refused: list[str]


def day_of(text):
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise Failure("INVALID_INPUT", f"{text!r} is not a date") from None


def booking_key(district, day):
    # Short, because the console of the siren centre shows it. The same test must not be booked by two jobs.
    return f"siren-{hash((district, day.isoformat())) & 0xFFFFFFFF:08x}"


@step("Siren.BookRound", determinism="external", effects=["external_send"])
def book_round(round: Round, context) -> Booked:
    """Books a siren test in each district."""
    day = day_of(round.day)
    if day.weekday() >= 5:
        raise Failure("INVALID_INPUT", f"{day} is a weekend day")
    districts = list(dict.fromkeys(name.strip() for name in round.districts if name.strip()))
    if not districts or len(districts) > MAX_DISTRICTS:
        raise Failure("INVALID_INPUT", f"{len(districts)} districts: give 1 to {MAX_DISTRICTS}")

    booked, refused = [], []
    for district in districts:
        args = {"district": district, "day": day.isoformat(), "signal": round.signal}
        try:
            tools.call("Siren.Schedule", args, action_key=booking_key(district, day))
        except Failure as failure:
            if failure.code != "POLICY_DENIED":
                raise
            log.warn("%s refuses: %s", district, failure.message)
            refused.append(district)
        else:
            booked.append(district)
    events.emit("siren-round", {"day": day.isoformat(), "booked": len(booked)})
    return Booked(day.isoformat(), booked, refused)
