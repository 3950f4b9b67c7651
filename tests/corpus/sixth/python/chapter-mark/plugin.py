"""Sets the mark of a reader in a book. The last call wins. The entry of a book names the call that set it, so that a
lost call is recognized, and the time at which it was set, which belongs to no answer."""

import json
from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import Change, Failure, Output, happened, kv, tool


@dataclass
class Mark:
    book: str
    chapter: int


@dataclass
class Marked:
    entry: str
    chapter: int


def name(mark):
    return f"mark/{mark.book}"


def load(entry):
    found = kv.get(entry)
    return None if found is None else json.loads(found)


def marked(mark):
    change = Change("mark", name(mark), "update", version=str(mark.chapter))
    return Output(Marked(name(mark), mark.chapter), changes=[change])


@tool("Book.Mark", output=Marked, effects=["internal_write"])
def set_mark(mark: Mark, context):
    """Sets the mark of a book."""
    if not mark.book or len(name(mark).encode()) > 200 or mark.chapter < 1:
        raise Failure("INVALID_INPUT", "the book or the chapter is not valid")
    now = datetime.now(timezone.utc).isoformat()
    kv.set(name(mark), json.dumps({"chapter": mark.chapter, "at": now, "key": context.external_key}))
    return marked(mark)


@set_mark.reconcile
def find(mark: Mark, key):
    entry = load(name(mark))
    if entry is None:
        return "did_not_happen"
    # The entry of another call may be older than this call, or have replaced its entry.
    return happened(marked(mark)) if entry["key"] == key else "unknown"


@set_mark.verify
def check(change):
    entry = load(change.resource_id)
    if entry is None:
        return "the book has no mark"
    return True if str(entry["chapter"]) == change.version else f"the mark is at chapter {entry['chapter']}"
