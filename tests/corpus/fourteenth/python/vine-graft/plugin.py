"""Records the grafts of a vineyard nursery, with a reminder for the day on which the bands are cut."""

import json
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal, Optional

from latchwork import Failure, Output, kv, tool


@dataclass
class Graft:
    scion: str
    rootstock: str
    method: Literal["whip", "omega", "cleft"]
    made_on: str
    cut_bands_after: Optional[int] = None


@dataclass
class Recorded:
    id: str
    due: Optional[str]


@dataclass
class Wanted:
    id: str


def due_day(graft):
    """Returns the day on which the bands are cut, if the nursery wants a reminder."""
    try:
        made = date.fromisoformat(graft.made_on)
        return None if graft.cut_bands_after is None else (made + timedelta(days=graft.cut_bands_after)).isoformat()
    except (ValueError, OverflowError):
        raise Failure("INVALID_INPUT", f"{graft.made_on} is not a usable day") from None


def entry(graft):
    return json.dumps({"scion": graft.scion, "rootstock": graft.rootstock, "method": graft.method, "made_on": graft.made_on})


@tool("Graft.Record", output=Recorded, effects=["internal_write"])
def record(graft: Graft, context):
    """Records a graft."""
    if not graft.scion.strip() or not graft.rootstock.strip():
        raise Failure("INVALID_INPUT", "a graft has a scion and a rootstock")
    key, due = context.external_key, due_day(graft)
    kv.set(f"graft/{key}", entry(graft))
    if due is not None:
        try:
            kv.set(f"due/{key}", due)
        except Failure as failure:
            raise Failure(failure.code, f"the reminder of {key}: {failure.message}", applied="unknown") from failure
    return Output(Recorded(key, due), receipt={"id": key})


# Called when the job is cancelled: the graft did not take or was recorded by mistake.
@record.compensate
def remove(graft: Graft, result, key):
    kept = kv.get(f"graft/{key}")
    if kept is None:
        raise Failure("POLICY_DENIED", f"the graft {key} was removed by another party")
    if kept != entry(graft).encode():
        raise Failure("POLICY_DENIED", f"the graft {key} was changed")
    kv.delete(f"graft/{key}")
    return Output(None)


@tool("Graft.Due")
def due(wanted: Wanted, context) -> Recorded:
    """Reads the day on which the bands of a graft are cut."""
    day = kv.get(f"due/{wanted.id}")
    if day is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"there is no reminder of {wanted.id}")
    return Recorded(wanted.id, day.decode())
