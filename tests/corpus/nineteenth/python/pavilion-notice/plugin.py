"""Keeps the notices on the board of a park pavilion."""

import json
from dataclasses import dataclass

from latchwork import Failure, happened, kv, tool


@dataclass
class Notice:
    title: str
    text: str


@dataclass
class Posted:
    notice: str
    lines: int


@dataclass
class Named:
    notice: str


def entry(key):
    return f"notice/{key}"


def read(key):
    """Returns the notice of a key with its state, or None."""
    kept = kv.get(entry(key))
    return None if kept is None else json.loads(kept)


def posted(notice, key):
    """Returns the answer for a notice on the board."""
    return Posted(key, len(notice.text.splitlines()))


@tool("Notice.Post", output=Posted, effects=["internal_write"])
def post(notice: Notice, context):
    """Puts a notice on the board."""
    if not notice.title.strip() or not notice.text.strip():
        raise Failure("INVALID_INPUT", "a notice needs a title and a text")
    if len(notice.text) > 4000:
        raise Failure("INVALID_INPUT", f"the text of {notice.title} has {len(notice.text)} characters, not 4000")
    made = {"title": notice.title, "text": notice.text, "state": "up"}
    kv.set(entry(context.external_key), json.dumps(made))
    return posted(notice, context.external_key)


@post.reconcile
def find(notice: Notice, key):
    """Looks for the notice on the board."""
    kept = read(key)
    if kept is None or kept["state"] == "withdrawn":
        return "did_not_happen"
    return happened(posted(notice, key))


@tool("Notice.Withdraw", output=Named, effects=["internal_write"])
def withdraw(given: Named, context):
    """Takes a notice off the board. The archive keeps it."""
    kept = read(given.notice)
    if kept is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"there is no notice {given.notice}")
    if kept["state"] == "up":
        kv.set(entry(given.notice), json.dumps({**kept, "state": "withdrawn"}))
    return Named(given.notice)


@tool("Notice.Show", output=Notice, effects=["read_only"])
def show(given: Named, context):
    """Returns a notice that is on the board."""
    kept = read(given.notice)
    if kept is None or kept["state"] == "withdrawn":
        raise Failure("MISSING_REQUIRED_CONTEXT", f"the board has no notice {given.notice}")
    return Notice(kept["title"], kept["text"])
