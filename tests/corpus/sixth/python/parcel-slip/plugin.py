"""Prints a slip with a random code and the present time. The slip is kept under the key of the call. A repetition finds
the slip and answers with it, and an undone slip stays in the map, marked as void."""

import json
import secrets
from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import Change, Failure, Output, kv, tool


@dataclass
class Parcel:
    receiver: str


@dataclass
class Slip:
    code: str
    at: str


def printed(key, slip):
    change = Change("slip", key, "create", version=slip["code"])
    return Output(Slip(slip["code"], slip["at"]), receipt={"code": slip["code"]}, changes=[change])


def load(key):
    found = kv.get(key)
    return None if found is None else json.loads(found)


@tool("Slip.Print", output=Slip, effects=["internal_write"], idempotent_by_key_seconds=2592000)
def print_slip(parcel: Parcel, context):
    """Prints a slip for a parcel."""
    if not parcel.receiver.strip() or len(parcel.receiver) > 200:
        raise Failure("INVALID_INPUT", "the parcel has no valid receiver")
    key = context.external_key
    slip = load(key)
    if slip is None:
        slip = {
            "receiver": parcel.receiver,
            "code": secrets.token_hex(8),
            "at": datetime.now(timezone.utc).isoformat(),
            "void": False,
        }
        kv.set(key, json.dumps(slip))
    return printed(key, slip)


@print_slip.verify
def check(change):
    slip = load(change.resource_id)
    if slip is None:
        return "the slip is missing"
    if slip["void"]:
        return "the slip is void"
    return True if slip["code"] == change.version else "the slip has another code"


@print_slip.compensate
def void(parcel: Parcel, result: Slip, key):
    slip = load(key)
    if slip is None or slip["code"] != result.code:
        raise Failure("POLICY_DENIED", "the slip was changed or removed", applied="no")
    if not slip["void"]:
        kv.set(key, json.dumps({**slip, "void": True}))
    return Output(None, changes=[Change("slip", key, "update", version=slip["code"])])
