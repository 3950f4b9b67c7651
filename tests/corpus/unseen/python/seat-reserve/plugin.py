import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, happened, kv, tool


@dataclass
class Seat:
    show: str
    seat: str


@dataclass
class Reserved:
    reservation: str
    seat: str


def reserved(key, seat):
    change = Change("reservation", key, "create", version=seat, external_ref=f"reservation/{key}")
    return Output(Reserved(key, seat), changes=[change])


@tool("Seat.Reserve", output=Reserved, effects=["internal_write"])
def reserve(seat: Seat, context):
    """Reserves a seat."""
    if not seat.seat:
        raise Failure("INVALID_INPUT", "no seat is named")
    kv.set(f"reservation/{context.external_key}", json.dumps({"show": seat.show, "seat": seat.seat}))
    return reserved(context.external_key, seat.seat)


@reserve.reconcile
def find(seat: Seat, key):
    return "did_not_happen" if kv.get(f"reservation/{key}") is None else happened(reserved(key, seat.seat))


@reserve.verify
def check(change):
    stored = kv.get(change.external_ref)
    if stored is None:
        return "the reservation is missing"
    return True if json.loads(stored)["seat"] == change.version else "another seat is reserved"


@reserve.compensate
def release(seat: Seat, result, key):
    kv.delete(f"reservation/{key}")
    return Output(None)
