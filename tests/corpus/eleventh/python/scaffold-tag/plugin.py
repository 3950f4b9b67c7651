"""Tags of inspected scaffold bays. Keyed: a repetition under the same key adds no second tag."""

import hashlib
import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, kv, tool

CLASSES = {1: 75, 2: 150, 3: 200, 4: 300}


@dataclass
class Inspection:
    site: str
    bay: str
    load_class: int
    inspector: str


@dataclass
class Tag:
    tag: str
    max_kg_per_m2: int


def version(entry):
    return hashlib.sha256(entry).hexdigest()[:16]


@tool("Scaffold.Tag", output=Tag, effects=["internal_write"], idempotent_by_key_seconds=7 * 24 * 3600)
def tag(inspection: Inspection, context):
    """Hangs a tag on an inspected bay."""
    if inspection.load_class not in CLASSES:
        raise Failure("INVALID_INPUT", f"there is no load class {inspection.load_class}")
    if not inspection.inspector.strip() or max(map(len, (inspection.site, inspection.bay, inspection.inspector))) > 200:
        raise Failure("INVALID_INPUT", "site, bay and inspector have 1 to 200 characters")
    key = context.external_key
    made = Tag(key, CLASSES[inspection.load_class])
    if kv.get(key) is not None:
        return made
    entry = json.dumps(
        {"site": inspection.site, "bay": inspection.bay, "class": inspection.load_class, "by": inspection.inspector.strip()},
        sort_keys=True,
    ).encode()
    kv.set(key, entry)
    return Output(made, changes=[Change("scaffold-tag", key, "create", version=version(entry))])


@tag.verify
def still_hanging(change):
    entry = kv.get(change.resource_id)
    if entry is None:
        return "the tag is gone"
    if version(entry) != change.version:
        return f"the tag has version {version(entry)}"
    return True
