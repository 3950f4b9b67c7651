"""Tools as people write them in Python: each Bad one breaks a rule, the Good one beside it looks alike and is right."""

import uuid
from dataclasses import dataclass

from latchwork import Failure, happened, kv, secrets, tool


@dataclass
class Note:
    text: str


@dataclass
class Kept:
    key: str


KEYED = {"effects": ["internal_write"], "idempotent_by_key_seconds": 86_400}


# A new id in each try: after a crash the note is there twice.
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


# Looks where it never wrote.
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


# Says what it hopes.
@tool("Bad.Invents", effects=["internal_write"])
def bad_invents(note: Note, context) -> Kept:
    """Keeps a note."""
    kv.set(context.external_key, note.text)
    return Kept(context.external_key)


@bad_invents.reconcile
def bad_hope(note: Note, key):
    return happened(Kept(key))


# A cache is a write, too.
@tool("Bad.Cache")
def bad_cache(note: Note, context) -> dict:
    """Says how long a note is."""
    known = kv.get(note.text)
    if known is None:
        kv.set(note.text, str(len(note.text)))
    return {"length": len(note.text)}


@tool("Good.Cache")
def good_cache(note: Note, context) -> dict:
    """Says how long a note is."""
    known = kv.get(note.text)
    return {"length": len(note.text) if known is None else int(known)}


# Whoever reads the log reads the token.
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


# What it may not have, it may not need.
@tool("Bad.Reaches")
def bad_reaches(note: Note, context) -> dict:
    """Looks a note up."""
    try:
        return {"token": len(secrets.get("ADMIN_TOKEN"))}
    except Failure:
        return {"token": 0}


# A text where the schema says a number.
@tool("Bad.Schema", output={"type": "object", "properties": {"length": {"type": "integer"}}, "required": ["length"]})
def bad_schema(note: Note, context):
    """Says how long a note is."""
    return {"length": str(len(note.text))}


@tool("Good.Schema", output={"type": "object", "properties": {"length": {"type": "integer"}}, "required": ["length"]})
def good_schema(note: Note, context):
    """Says how long a note is."""
    return {"length": len(note.text)}
