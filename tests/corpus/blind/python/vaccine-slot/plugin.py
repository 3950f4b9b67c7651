import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, kv, tool


@dataclass
class Wish:
    patient: str
    day: str
    dose: int


@dataclass
class Slot:
    slot: str
    dose: int


@tool("VaccineSlot.Reserve", output=Slot, effects=["internal_write"], idempotent_by_key_seconds=86400)
def reserve(wish: Wish, context):
    """Reserves a slot for a vaccination."""
    if not 1 <= wish.dose <= 4:
        raise Failure("INVALID_INPUT", "there are doses 1 to 4")
    slot = f"slot/{wish.day}/{context.external_key}"
    known = kv.get(slot)
    if known is not None:
        # An earlier try has done the work.
        return Slot(slot, json.loads(known)["dose"])
    entry = json.dumps({"patient": wish.patient, "dose": wish.dose})
    kv.set(slot, entry)
    return Output(Slot(slot, wish.dose), changes=[Change("slot", slot, "create", version=entry)])


@reserve.verify
def check(change):
    entry = kv.get(change.resource_id)
    if entry is None:
        return "the slot is free"
    return True if entry.decode() == change.version else "the slot has other data"
