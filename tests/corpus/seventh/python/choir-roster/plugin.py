"""Publishes the roster of a choir: the current one, and an archive of all issues."""

import json
from dataclasses import dataclass

from latchwork import Failure, kv, log, tool

CURRENT = "roster/current"


@dataclass
class Roster:
    week: str
    singers: dict[str, list[str]]


@dataclass
class Published:
    week: str
    singers: int
    voices: list[str]


def checked(roster):
    if not roster.singers:
        raise Failure("INVALID_INPUT", "the roster has no voices")
    text = json.dumps({"week": roster.week, "singers": roster.singers}, sort_keys=True)
    if len(text) > 60_000:
        raise Failure("INVALID_INPUT", "the roster is too large")
    return text


@tool("Roster.Publish", effects=["internal_write"])
def publish(roster: Roster, context) -> Published:
    """Publishes the roster of a week and archives it."""
    text = checked(roster)
    archived = f"roster/issue/{context.external_key}"
    kv.set(CURRENT, text)
    try:
        kv.set(archived, text)
    except Failure as failure:
        # Nothing may stay behind, so that the host can publish again.
        log.warn("archiving failed, the roster is withdrawn: %s", failure.message)
        kv.delete(archived)
        kv.delete(CURRENT)
        raise Failure("TRANSIENT_DB_LOCK", "the roster could not be archived", applied="no") from failure
    return Published(
        roster.week,
        sum(len(names) for names in roster.singers.values()),
        sorted(roster.singers),
    )


@tool("Roster.Current", effects=["read_only"])
def current(_: dict, context) -> dict:
    """Returns the current roster, or an empty object."""
    text = kv.get(CURRENT)
    return {} if text is None else json.loads(text)
