import json
from dataclasses import dataclass
from typing import Optional

from latchwork import Change, Failure, Output, happened, kv, tool


@dataclass
class Note:
    guest: str
    text: str


@dataclass
class Noted:
    guest: str
    before: Optional[str]


def read(guest):
    entry = kv.get(f"guest/{guest}")
    return None if entry is None else json.loads(entry)


def noted(guest, entry):
    change = Change("allergies", f"guest/{guest}", "update", version=entry["key"])
    return Output(Noted(guest, entry["before"] and entry["before"]["text"]), changes=[change])


@tool("AllergyNote.Write", output=Noted, effects=["internal_write"])
def write(note: Note, context):
    """Notes the allergies of a guest."""
    if not note.guest or len(note.guest) > 50 or len(note.text) > 300:
        raise Failure("INVALID_INPUT", "a guest and a text of up to 300 characters are needed")
    before = read(note.guest)
    if before is not None:
        before = {"key": before["key"], "text": before["text"], "before": before["before"]}
    entry = {"key": context.external_key, "text": note.text, "before": before}
    kv.set(f"guest/{note.guest}", json.dumps(entry))
    return noted(note.guest, entry)


@write.reconcile
def find(note: Note, key):
    entry = read(note.guest)
    if entry is None:
        return "did_not_happen"
    if entry["key"] == key:
        return happened(noted(note.guest, entry))
    return "unknown"  # another call may have replaced the text of this one


@write.verify
def check(change):
    entry = kv.get(change.resource_id)
    if entry is None:
        return "the note is missing"
    return True if json.loads(entry)["key"] == change.version else "the note was written again"


@write.compensate
def undo(note: Note, result, key):
    name = f"guest/{note.guest}"
    entry = read(note.guest)
    if entry is None or entry["key"] != key or entry["text"] != note.text:
        raise Failure("POLICY_DENIED", "the note was changed since")
    if entry["before"] is None:
        kv.delete(name)
    else:
        kv.set(name, json.dumps(entry["before"]))
    return Output(None, changes=[Change("allergies", name, "update")])
