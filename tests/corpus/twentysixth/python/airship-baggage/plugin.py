from dataclasses import dataclass
from typing import Callable

from latchwork import Failure, step


@dataclass
class Trunk:
    owner: str
    kilograms: int
    length_cm: int
    contents: list[str]


@dataclass
class Flight:
    airship: str
    trunks: list[Trunk]


@dataclass
class Loading:
    airship: str
    trunks: int
    kilograms: int


@dataclass(frozen=True)
class Rule:
    name: str
    limit: int
    holds: Callable[[Trunk, int], bool]


FORBIDDEN = {"matches", "lamp oil", "fireworks", "ether"}
RULES = [
    Rule("weight", 32, lambda trunk, limit: trunk.kilograms <= limit),
    Rule("length", 140, lambda trunk, limit: trunk.length_cm <= limit),
    Rule("number of flammable things", 0, lambda trunk, limit: len(FORBIDDEN.intersection(trunk.contents)) <= limit),
]
TOTAL = 2400


@step("Airship.Baggage")
def baggage(flight: Flight, context) -> Loading:
    """Checks the trunks of the passengers of an airship and adds up their weight."""
    for trunk in flight.trunks:
        if trunk.kilograms < 0 or trunk.length_cm <= 0:
            raise Failure("INVALID_INPUT", f"the trunk of {trunk.owner} has no size")
        for rule in RULES:
            if not rule.holds(trunk, rule.limit):
                raise Failure("INVALID_INPUT", f"the trunk of {trunk.owner} is refused by {rule}")
    total = sum(trunk.kilograms for trunk in flight.trunks)
    if total > TOTAL:
        raise Failure("POLICY_DENIED", f"{flight.airship} carries {TOTAL} kg of baggage, and the trunks weigh {total} kg")
    return Loading(flight.airship, len(flight.trunks), total)
