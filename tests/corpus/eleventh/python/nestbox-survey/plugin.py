"""Stores the sheet of one round along the nest boxes, one entry for each box."""

import json
from dataclasses import dataclass
from typing import Optional

from latchwork import Failure, kv, tool

SPECIES = {"great tit", "blue tit", "nuthatch", "pied flycatcher", "empty"}


@dataclass
class Box:
    number: int
    species: str
    eggs: int
    remark: Optional[str] = None


@dataclass
class Sheet:
    round: str
    boxes: list[Box]


@dataclass
class Stored:
    round: str
    entries: list[str]
    eggs: int


def checked(box):
    if box.species not in SPECIES:
        raise Failure("INVALID_INPUT", f"box {box.number}: unknown species {box.species}")
    if not 0 <= box.eggs <= 20 or (box.species == "empty" and box.eggs):
        raise Failure("INVALID_INPUT", f"box {box.number}: {box.eggs} eggs cannot be right")
    if box.remark is not None and len(box.remark) > 500:
        raise Failure("INVALID_INPUT", f"box {box.number}: the remark is too long")
    return {"number": box.number, "species": box.species, "eggs": box.eggs, "remark": box.remark}


@tool("Nestbox.Store", effects=["internal_write"])
def store(sheet: Sheet, context) -> Stored:
    """Stores the boxes of one round."""
    if not 1 <= len(sheet.boxes) <= 200:
        raise Failure("INVALID_INPUT", "a sheet has 1 to 200 boxes")
    entries = []
    for line, box in enumerate(sheet.boxes, 1):
        entry = f"{context.external_key}#{line}"
        kv.set(entry, json.dumps({"round": sheet.round[:100], **checked(box)}))
        entries.append(entry)
    return Stored(sheet.round, entries, sum(box.eggs for box in sheet.boxes))


@tool("Nestbox.Read", input={"type": "object", "properties": {"entry": {"type": "string", "minLength": 1, "maxLength": 200}}, "required": ["entry"]})
def read(args, context):
    """Reads one box of a stored sheet."""
    stored = kv.get(args["entry"])
    if stored is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", "there is no such entry")
    return json.loads(stored)
