import json
import re
from dataclasses import dataclass

from latchwork import Change, Failure, Output, happened, kv, tool

PLATE = re.compile("[A-Z]{1,3}-[A-Z0-9]{1,8}")

PERMIT = {
    "type": "object",
    "properties": {
        "plate": {"type": "string", "pattern": "^[A-Z]{1,3}-[A-Z0-9]{1,8}$"},
        "zone": {"type": "integer", "minimum": 1, "maximum": 60},
        "year": {"type": "integer", "minimum": 2020, "maximum": 2100},
        "resident": {"type": "string", "minLength": 1, "maxLength": 80},
    },
    "required": ["plate", "zone", "year", "resident"],
    "additionalProperties": False,
}


@dataclass
class Issued:
    permit: str
    zone: int
    renewed: bool


@dataclass
class Plate:
    plate: str


@dataclass
class Found:
    zone: int
    year: int


def current(plate):
    """Returns the permit of a plate, or None."""
    raw = kv.get(f"permit/{plate}")
    return None if raw is None else json.loads(raw)


def issued(args, key, known):
    """The answer of a call. `known` is the permit that the plate had."""
    change = Change("parking-permit", args["plate"], "issue", version=key)
    return Output(Issued(key, args["zone"], known is not None), receipt={"permit": key}, changes=[change])


@tool("Permit.Issue", input=PERMIT, output=Issued, effects=["internal_write"])
def issue(args, context):
    """Issues the parking permit of a resident for a year."""
    known = current(args["plate"])
    key = context.external_key
    kv.set(f"permit/{args['plate']}", json.dumps({**args, "permit": key}))
    return issued(args, key, known)


@issue.reconcile
def find(args, key):
    known = current(args["plate"])
    # A permit is never removed, so a plate without a permit was not issued one.
    if known is None:
        return "did_not_happen"
    # Another permit may have replaced that of the call.
    if known["permit"] != key:
        return "unknown"
    return happened(issued(args, key, known))


@tool("Permit.Check", output=Found, effects=["read_only"])
def check(plate: Plate, context):
    """Finds the zone for which a plate has a permit, for the wardens."""
    if not PLATE.fullmatch(plate.plate):
        raise Failure("INVALID_INPUT", "a plate has the form B-AB12")
    known = current(plate.plate)
    return Found(0, 0) if known is None else Found(known["zone"], known["year"])
