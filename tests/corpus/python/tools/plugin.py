"""Corpus of tools written in typical Python.

Each Bad tool breaks a rule of the checker. The Good tool next to it looks similar and breaks none.
"""

import uuid
from dataclasses import dataclass

from latchwork import Change, Failure, Output, happened, kv, secrets, tool


@dataclass
class Note:
    text: str


@dataclass
class Kept:
    key: str


KEYED = {"effects": ["internal_write"], "idempotent_by_key_seconds": 86_400}


# Each try uses a new id as key, so a retry after a crash stores the note twice.
@tool("Bad.Keyed", **KEYED)
def bad_keyed(note: Note, context) -> Kept:
    """Keeps a note."""
    key = str(uuid.uuid4())
    kv.set(key, note.text)
    return Kept(key)


@tool("Good.Keyed", **KEYED)
def good_keyed(note: Note, context) -> Kept:
    """Keeps a note under the key of its call."""
    kv.set(context.external_key, note.text)
    return Kept(context.external_key)


# Reconcile looks for the note under a key that the tool never writes.
@tool("Bad.Forgets", effects=["internal_write"])
def bad_forgets(note: Note, context) -> Kept:
    """Keeps a note."""
    kv.set(f"note-{context.external_key}", note.text)
    return Kept(context.external_key)


@bad_forgets.reconcile
def bad_find(note: Note, key):
    return happened(Kept(key)) if kv.get(f"notes-{key}") else "did_not_happen"


@tool("Good.Asked", effects=["internal_write"])
def good_asked(note: Note, context) -> Kept:
    """Keeps a note."""
    kv.set(f"note-{context.external_key}", note.text)
    return Kept(context.external_key)


@good_asked.reconcile
def good_find(note: Note, key):
    return happened(Kept(key)) if kv.get(f"note-{key}") else "did_not_happen"


# Answers "happened" without checking.
@tool("Bad.Invents", effects=["internal_write"])
def bad_invents(note: Note, context) -> Kept:
    """Keeps a note."""
    kv.set(context.external_key, note.text)
    return Kept(context.external_key)


@bad_invents.reconcile
def bad_hope(note: Note, key):
    return happened(Kept(key))


# The tool writes to a cache, although it is declared read-only. Writing to a cache is a write.
@tool("Bad.Cache")
def bad_cache(note: Note, context) -> dict:
    """Returns the length of a note."""
    known = kv.get(note.text)
    if known is None:
        kv.set(note.text, str(len(note.text)))
    return {"length": len(note.text)}


@tool("Good.Cache")
def good_cache(note: Note, context) -> dict:
    """Returns the length of a note."""
    known = kv.get(note.text)
    return {"length": len(note.text) if known is None else int(known)}


# Log lines are recorded, so a token in a log line is recorded too.
@tool("Bad.Talks")
def bad_talks(note: Note, context) -> dict:
    """Looks a note up."""
    print("asking with", secrets.get("TOKEN"))
    return {}


@tool("Good.Talks")
def good_talks(note: Note, context) -> dict:
    """Looks a note up."""
    print("asking with a token of", len(secrets.get("TOKEN")), "characters")
    return {}


# Asks for a secret without a grant, and handles the refusal.
@tool("Bad.Reaches")
def bad_reaches(note: Note, context) -> dict:
    """Looks a note up."""
    try:
        return {"token": len(secrets.get("ADMIN_TOKEN"))}
    except Failure:
        return {"token": 0}


# The result has a string where the schema requires a number.
@tool("Bad.Schema", output={"type": "object", "properties": {"length": {"type": "integer"}}, "required": ["length"]})
def bad_schema(note: Note, context):
    """Returns the length of a note."""
    return {"length": str(len(note.text))}


@tool("Good.Schema", output={"type": "object", "properties": {"length": {"type": "integer"}}, "required": ["length"]})
def good_schema(note: Note, context):
    """Returns the length of a note."""
    return {"length": len(note.text)}


@dataclass
class Pieces:
    pieces: list[str]


# An answer has at most 1,000 changes.
@tool("Bad.Pieces", effects=["internal_write"])
def bad_pieces(given: Pieces, context) -> Output:
    """Keeps pieces, and reports a change for each of them."""
    kv.set(context.external_key, str(len(given.pieces)))
    changes = [Change("piece", f"{context.external_key}/{number}", "create") for number in range(len(given.pieces))]
    return Output(Kept(context.external_key), changes=changes)


@tool("Good.Pieces", effects=["internal_write"])
def good_pieces(given: Pieces, context) -> Output:
    """Keeps pieces, and reports one change for all of them."""
    kv.set(context.external_key, str(len(given.pieces)))
    return Output(Kept(context.external_key), changes=[Change("pieces", context.external_key, "create")])
