import json
from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import Change, Failure, Output, happened, kv, tool


@dataclass
class Note:
    board: str
    text: str


@dataclass
class Pinned:
    id: str
    at: str


def _stored(key):
    value = kv.get(f"pin:{key}")
    return None if value is None else json.loads(value)


def _pinned(key, stored):
    return Output(Pinned(key, stored["at"]), changes=[Change("note", key, "create", version=stored["at"])])


@tool("Note.Pin", output=Pinned, effects=["internal_write"])
def pin(note: Note, context):
    """Pins a note to a board."""
    if not note.text.strip():
        raise Failure("INVALID_INPUT", "the note is empty")
    key = context.external_key
    stored = _stored(key)
    # A repeated call keeps the time of the first one.
    if stored is None:
        stored = {"board": note.board, "text": note.text, "at": datetime.now(timezone.utc).isoformat()}
        value = json.dumps(stored)
        if len(value) > 60_000:
            raise Failure("INVALID_INPUT", "the note is too long")
        kv.set(f"pin:{key}", value)
    return _pinned(key, stored)


@pin.reconcile
def find(note: Note, key):
    stored = _stored(key)
    return "did_not_happen" if stored is None else happened(_pinned(key, stored))
