"""Remarks of surveyors on the parcels of a cadastre. Each remark is an entry of its own."""

import json
from dataclasses import dataclass, field
from typing import Literal

from latchwork import Change, Failure, Output, kv, tool


@dataclass
class Point:
    east_mm: int
    north_mm: int


@dataclass
class Remark:
    parcel: str
    severity: Literal["note", "doubt", "error"]
    text: str
    points: list[Point] = field(default_factory=list)


@dataclass
class Filed:
    entry: str
    heading: str


# Swiss grid, in millimetres.
EAST = range(2_480_000_000, 2_840_000_001)
NORTH = range(1_070_000_000, 1_300_000_001)


def checked(remark):
    parcel = remark.parcel.strip()
    if not parcel or len(parcel) > 40:
        raise Failure("INVALID_INPUT", "the parcel has to be named")
    text = remark.text.strip()
    if not text or len(text) > 4_000:
        raise Failure("INVALID_INPUT", "a remark has 1 to 4000 characters")
    if len(remark.points) > 200:
        raise Failure("INVALID_INPUT", "a remark has at most 200 points")
    for point in remark.points:
        if point.east_mm not in EAST or point.north_mm not in NORTH:
            raise Failure("INVALID_INPUT", f"{point.east_mm} / {point.north_mm} is outside of the grid")
    return {
        "parcel": parcel,
        "severity": remark.severity,
        "text": text,
        "points": [[point.east_mm, point.north_mm] for point in remark.points],
    }


@tool("Remark.File", output=Filed, effects=["internal_write"], idempotent_by_key_seconds=3 * 86_400)
def file(remark: Remark, context):
    """Files a remark on a parcel."""
    checked_remark = checked(remark)
    # Job and step are the same in every try, so a repetition writes the same entry once more.
    entry = f"remark/{context.job_id}/{context.step_id}"
    text = json.dumps(checked_remark, sort_keys=True, ensure_ascii=False)
    kv.set(entry, text)
    heading = f"{checked_remark['severity'].upper()} {checked_remark['parcel']}: {checked_remark['text'].splitlines()[0][:60]}"
    return Output(
        Filed(entry, heading),
        receipt={"entry": entry},
        changes=[Change("remark", entry, "create", external_ref=checked_remark["parcel"])],
    )
