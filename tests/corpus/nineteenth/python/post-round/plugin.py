"""Asks where the parcels of a shop are."""

from dataclasses import dataclass

from latchwork import Failure, log, step, tools

# Each parcel is asked about this number of times at most.
ROUNDS = 3

# Codes of failures that may pass until the next round.
PASSING = {"NETWORK_TIMEOUT", "RATE_LIMIT", "TEMPORARY_PROVIDER_ERROR", "TRANSIENT_DB_LOCK", "DEPENDENCY_UNAVAILABLE"}

STATES = ("accepted", "on_the_way", "delivered", "returned")


@dataclass
class Parcels:
    numbers: list[str]


@dataclass
class Found:
    number: str
    state: str


@dataclass
class Report:
    parcels: list[Found]
    delivered: int
    unknown: int


@step("Parcel.Report", determinism="external")
def report(parcels: Parcels, context) -> Report:
    """Reports the state of each parcel, in the order of the list."""
    numbers = parcels.numbers
    if not 1 <= len(numbers) <= 200:
        raise Failure("INVALID_INPUT", f"a report has 1 to 200 parcels, not {len(numbers)}")
    if any(len(number) > 40 for number in numbers):
        raise Failure("INVALID_INPUT", "the number of a parcel has at most 40 characters")
    states = {}
    open_numbers = list(dict.fromkeys(numbers))
    for turn in range(1, ROUNDS + 1):
        answers = tools.call_all([("Parcel.Track", {"number": number}) for number in open_numbers])
        again = []
        for number, answer in zip(open_numbers, answers, strict=True):
            if not isinstance(answer, Failure):
                states[number] = known(answer)
            elif answer.code in PASSING:
                again.append(number)
            else:
                states[number] = "unknown"
        if not again:
            break
        log.info("turn %d: %d parcels without an answer", turn, len(again))
        open_numbers = again
    found = [Found(number, states.get(number, "unknown")) for number in numbers]
    delivered = sum(parcel.state == "delivered" for parcel in found)
    return Report(found, delivered, sum(parcel.state == "unknown" for parcel in found))


def known(answer):
    """Returns the state in an answer of the carrier."""
    state = answer.get("state") if isinstance(answer, dict) else None
    return state if state in STATES else "unknown"
