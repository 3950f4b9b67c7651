"""Sets the flag of a desk. A later flag replaces an earlier one, so that all calls for a desk write the same entry. The
result has the entry that was replaced, and the undo puts it back."""

import json
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Optional

from latchwork import Change, Failure, Output, kv, tool


@dataclass
class Flag:
    desk: str
    colour: str


@dataclass
class Set:
    entry: str
    replaced: Optional[str]


def name(desk):
    return f"flag/{desk}"


def text_of(desk):
    text = kv.get(name(desk))
    return None if text is None else text.decode("utf-8", "replace")


# Without a reconcile, a call in doubt waits for a person: a later flag could have replaced the entry already.
@tool("Flag.Set", output=Set, effects=["internal_write"])
def put(flag: Flag, context):
    """Sets the flag of a desk."""
    if not flag.desk or len(flag.desk) > 40 or not flag.colour:
        raise Failure("INVALID_INPUT", "the desk or the colour is empty or too long")
    replaced = text_of(flag.desk)
    now = datetime.now(timezone.utc).isoformat()
    entry = json.dumps({"colour": flag.colour, "at": now, "call": context.external_key})
    kv.set(name(flag.desk), entry)
    return Output(Set(entry, replaced), changes=[Change("flag", name(flag.desk), "update", version=entry)])


# Called when a job is resumed.
@put.verify
def check(change):
    text = kv.get(change.resource_id)
    if text is None:
        return "the desk has no flag"
    return True if text == (change.version or "").encode() else "the desk has another flag"


# Called when the job is cancelled or undone.
@put.compensate
def put_back(flag: Flag, result: Set, key):
    if text_of(flag.desk) != result.entry:
        raise Failure("POLICY_DENIED", "the flag was changed or removed since")
    if result.replaced is None:
        kv.delete(name(flag.desk))
        return Output(None, changes=[Change("flag", name(flag.desk), "delete")])
    kv.set(name(flag.desk), result.replaced)
    return Output(None, changes=[Change("flag", name(flag.desk), "update", version=result.replaced)])
