"""Loads the inventory of a theatre's wardrobe: one entry for each costume, and a cover sheet."""

import hashlib
import json
from dataclasses import dataclass
from typing import Optional

from latchwork import Change, Failure, Output, kv, tool

MAX_COSTUMES = 2000
MAX_TEXT = 200


@dataclass
class Costume:
    tag: str
    role: str
    size: str


@dataclass
class Inventory:
    wardrobe: str
    costumes: list[Costume]


@dataclass
class Loaded:
    inventory: str
    costumes: int


@dataclass
class Place:
    inventory: str
    number: int


@dataclass
class Found:
    wardrobe: Optional[str]
    tag: Optional[str]
    role: Optional[str]


def digest(text):
    return hashlib.sha256(text).hexdigest()


def written(place, text):
    """Writes one entry of an inventory and returns the change."""
    try:
        kv.set(place, text)
    except Failure as failure:
        raise Failure(failure.code, f"{place} was not written: {failure.message}", applied="unknown") from failure
    return Change("costume", place, "create", version=digest(text))


@tool("Inventory.Load", output=Loaded, effects=["internal_write"], idempotent_by_key_seconds=86_400)
def load(inventory: Inventory, context):
    """Loads the costumes of a wardrobe under one number."""
    costumes = inventory.costumes
    if not costumes or len(costumes) > MAX_COSTUMES:
        raise Failure("INVALID_INPUT", f"an inventory has 1 to {MAX_COSTUMES} costumes")
    if len({costume.tag for costume in costumes}) < len(costumes):
        raise Failure("INVALID_INPUT", "two costumes have the same tag")
    if any(max(len(one.tag), len(one.role), len(one.size)) > MAX_TEXT for one in costumes):
        raise Failure("INVALID_INPUT", f"a field of a costume has more than {MAX_TEXT} characters")
    if not 0 < len(inventory.wardrobe) <= MAX_TEXT:
        raise Failure("INVALID_INPUT", f"the name of a wardrobe has 1 to {MAX_TEXT} characters")
    key = context.external_key
    changes = []
    for number, costume in enumerate(costumes):
        text = json.dumps([costume.tag, costume.role, costume.size]).encode()
        changes.append(written(f"{key}/{number}", text))
    cover = json.dumps({"wardrobe": inventory.wardrobe, "costumes": len(costumes)}).encode()
    changes.append(written(key, cover))
    return Output(Loaded(key, len(costumes)), changes=changes)


@load.verify
def check(change):
    text = kv.get(change.resource_id)
    if text is None:
        return "the entry is missing"
    return True if digest(text) == change.version else "the entry has another content"


@tool("Inventory.Find", output=Found, effects=["read_only"])
def find(place: Place, context):
    """Returns one costume of a loaded inventory."""
    cover = kv.get(place.inventory)
    text = kv.get(f"{place.inventory}/{place.number}") if cover is not None else None
    if text is None:
        return Found(None, None, None)
    tag, role, _ = json.loads(text)
    return Found(json.loads(cover)["wardrobe"], tag, role)
