"""Quiet hours of a hostel: the notice at the door of each floor."""

import json
from dataclasses import dataclass
from typing import Optional

from latchwork import Change, Failure, Output, kv, log, tool


@dataclass
class Hours:
    floor: int
    begins: str
    ends: str
    note: str = ""


@dataclass
class Notice:
    notice: str
    text: str


@dataclass
class Number:
    notice: str


def place(notice):
    return f"notice/{notice}"


def minutes(name, text):
    """Reads a time such as 22:30. Returns minutes since midnight."""
    hour, colon, minute = text.partition(":")
    if not (colon and len(text) == 5 and text.isascii() and hour.isdigit() and minute.isdigit()):
        raise Failure("INVALID_INPUT", f"{name}: {text!r} is no time such as 22:30")
    if int(hour) > 23 or int(minute) > 59:
        raise Failure("INVALID_INPUT", f"{name}: there is no {text}")
    return int(hour) * 60 + int(minute)


def sentence(given):
    """The text of the notice. Hours that end on the next day say so."""
    begins, ends = minutes("begins", given.begins), minutes("ends", given.ends)
    if begins == ends:
        raise Failure("INVALID_INPUT", "the quiet hours have no length")
    until = f"{given.ends} on the next day" if ends < begins else given.ends
    return f"Floor {given.floor}: please be quiet from {given.begins} until {until}. {given.note[:200]}".strip()


def posted(notice) -> Optional[str]:
    """Returns the text of a notice, or None if it cannot be found."""
    try:
        raw = kv.get(place(notice))
    except Failure as failure:
        log.warn("notice %s: %s", notice, failure.message)
        return None
    return None if raw is None else json.loads(raw)["text"]


@tool("QuietHours.Post", output=Notice, effects=["internal_write"])
def post(given: Hours, context):
    """Posts the quiet hours of a floor."""
    if not 0 <= given.floor <= 40:
        raise Failure("INVALID_INPUT", f"the hostel has no floor {given.floor}")
    text = sentence(given)
    notice = context.external_key
    kv.set(place(notice), json.dumps({"floor": given.floor, "text": text}))
    return Output(Notice(notice, text), changes=[Change("notice", notice, "create", version=text)])


@post.verify
def is_posted(change):
    """Checks that a notice has the text that was recorded."""
    text = posted(change.resource_id)
    if text is None:
        return "the notice is not at the door"
    return True if text == change.version else f"the notice says: {text}"


@tool("QuietHours.Read", output=Notice, effects=["read_only"])
def read(given: Number, context):
    """Returns the text of a notice."""
    raw = kv.get(place(given.notice))
    if raw is None:
        raise Failure("INVALID_INPUT", f"there is no notice {given.notice}")
    return Notice(given.notice, json.loads(raw)["text"])
