"""Writes a line into the diary of a ship, under the key of its call."""

import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, happened, kv, log, tool


@dataclass
class Line:
    watch: str
    text: str


@dataclass
class Written:
    line: str


def written(key, text):
    return Output(Written(key), changes=[Change("line", f"line/{key}", "create", version=text)])


def stored(key):
    """Returns the text of an entry, or None."""
    try:
        text = kv.get(f"line/{key}").decode()
        json.loads(text)
        return text
    except Exception as error:
        log.debug("no entry of %s: %s", key, error)
        return None


@tool("Diary.Write", output=Written, effects=["internal_write"])
def write(line: Line, context):
    """Writes a line into the diary of a ship."""
    if not line.text.strip():
        raise Failure("INVALID_INPUT", "the line is empty")
    text = json.dumps({"watch": line.watch, "text": line.text})
    kv.set(f"line/{context.external_key}", text)
    return written(context.external_key, text)


# Called after a crash: finds out whether the call happened.
@write.reconcile
def find(line: Line, key):
    text = stored(key)
    return "did_not_happen" if text is None else happened(written(key, text))


# Called when a job is resumed.
@write.verify
def check(change):
    text = kv.get(change.resource_id)
    if text is None:
        return "the line is missing"
    return True if text.decode() == change.version else "the line has another text"
