import json
from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import Change, Output, happened, kv, tool


@dataclass
class Note:
    text: str


@dataclass
class Kept:
    key: str


def kept(key):
    return Output(Kept(key), changes=[Change("note", key, "create")])


@tool("{{Noun}}.Keep", output=Kept, effects=["internal_write"])
def keep(note: Note, context):
    """Keeps a note under the key of its call."""
    kv.set(context.external_key, json.dumps({"text": note.text, "at": datetime.now(timezone.utc).isoformat()}))
    return kept(context.external_key)


# Called after a crash: finds out whether the call happened.
@keep.reconcile
def find(note: Note, key):
    return "did_not_happen" if kv.get(key) is None else happened(kept(key))
