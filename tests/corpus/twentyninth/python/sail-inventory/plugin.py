"""Counts the sails of a club by class of boat, and names the sails that a boat still needs."""

from collections import Counter
from dataclasses import dataclass, field

from latchwork import Failure, step

NEEDED = {
    "dinghy": {"main"},
    "two-hander": {"main", "jib"},
    "keelboat": {"main", "jib", "genoa", "spinnaker"},
}
SAILS = set().union(*NEEDED.values()) | {"storm jib", "gennaker", "code zero"}


@dataclass
class Boat:
    name: str
    kind: str
    sails: list[str] = field(default_factory=list)


@dataclass
class Fleet:
    club: str
    boats: list[Boat]


@dataclass
class Missing:
    boat: str
    sails: list[str]


@dataclass
class Inventory:
    club: str
    counts: dict[str, int]
    missing: list[Missing]
    complete: int


def spelled(sail):
    return " ".join(sail.lower().replace("-", " ").split())


@step("Sails.Count")
def count(fleet: Fleet, context) -> Inventory:
    """Counts the sails of a fleet."""
    names = Counter(boat.name for boat in fleet.boats)
    twice = [name for name, number in names.items() if number > 1]
    if twice:
        raise Failure("INVALID_INPUT", f"boats with one name: {', '.join(twice)}", detail={"boats": twice})

    kinds = sorted({boat.kind for boat in fleet.boats} - NEEDED.keys())
    if kinds:
        raise Failure("INVALID_INPUT", f"unknown kinds of boats: {', '.join(kinds)}", detail={"kinds": kinds})

    found = {spelled(sail) for boat in fleet.boats for sail in boat.sails}
    unknown = found - SAILS
    if unknown:
        raise Failure(
            "INVALID_INPUT",
            f"unknown sails: {', '.join(unknown)}",
            detail={"sails": list(unknown), "known": sorted(SAILS)},
        )

    counts = Counter(spelled(sail) for boat in fleet.boats for sail in boat.sails)
    missing = []
    for boat in fleet.boats:
        lacks = NEEDED[boat.kind] - {spelled(sail) for sail in boat.sails}
        if lacks:
            missing.append(Missing(boat.name, sorted(lacks)))
    return Inventory(fleet.club, dict(sorted(counts.items())), missing, len(fleet.boats) - len(missing))
