"""Keeps the minutes of the meetings of a club."""

import json
from dataclasses import dataclass

from latchwork import Failure, Output, happened, kv, tool

LONGEST = 15_000


@dataclass
class Minutes:
    title: str
    text: str


@dataclass
class Filed:
    minutes: str
    words: int


@dataclass
class Named:
    minutes: str


def body(key):
    return f"body/{key}"


def index(key):
    return f"index/{key}"


def filed(minutes, key):
    """Returns the answer for minutes in the book."""
    return Filed(key, len(minutes.text.split()))


@tool("Minutes.File", output=Filed, effects=["internal_write"])
def file(minutes: Minutes, context):
    """Files the minutes of a meeting."""
    if not minutes.text.strip() or len(minutes.text) > LONGEST:
        raise Failure("INVALID_INPUT", f"minutes have 1 to {LONGEST} characters, not {len(minutes.text)}")
    if not 1 <= len(minutes.title) <= 200:
        raise Failure("INVALID_INPUT", "the title of minutes has 1 to 200 characters")
    key = context.external_key
    kv.set(body(key), minutes.text)
    # The line in the index makes the minutes visible.
    try:
        kv.set(index(key), json.dumps({"title": minutes.title}))
    except Failure as failure:
        raise Failure(failure.code, failure.message, applied="unknown") from failure
    return filed(minutes, key)


@file.reconcile
def find(minutes: Minutes, key):
    """Looks for the minutes in the index."""
    return "did_not_happen" if kv.get(index(key)) is None else happened(filed(minutes, key))


@file.compensate
def remove(minutes: Minutes, result, key):
    """Takes the minutes out of the book."""
    if not kv.delete(index(key)):
        raise Failure("POLICY_DENIED", f"the book has no minutes {key}")
    try:
        gone = kv.delete(body(key))
    except Failure as failure:
        raise Failure(failure.code, failure.message, applied="unknown") from failure
    if not gone:
        raise Failure("POLICY_DENIED", f"the text of {key} was removed before", applied="unknown")
    return Output(None)


@tool("Minutes.Read", output=Minutes, effects=["read_only"])
def read(given: Named, context):
    """Returns the minutes of a meeting."""
    line = kv.get(index(given.minutes))
    text = None if line is None else kv.get(body(given.minutes))
    if line is None or text is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"the book has no minutes {given.minutes}")
    return Minutes(json.loads(line)["title"], text.decode())
