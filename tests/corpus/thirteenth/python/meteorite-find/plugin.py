"""Registers meteorite finds with a find code and the time of registration."""

import json
import secrets
from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import Change, Failure, Output, kv, log, tool


@dataclass
class Find:
    finder: str
    place: str
    grams: float
    magnetic: bool = True


@dataclass
class Registered:
    code: str
    registered_at: str
    grams: float


def registered(key, entry):
    result = Registered(entry["code"], entry["at"], entry["grams"])
    return Output(result, receipt={"code": entry["code"]}, changes=[Change("find", key, "create", version=entry["code"])])


# Finds stay in the map. A repetition under the same key keeps the code and the time of the first try.
@tool("Meteorite.Register", output=Registered, effects=["internal_write"], idempotent_by_key_seconds=14 * 86_400)
def register(find: Find, context):
    """Registers a find."""
    if not find.finder.strip() or not find.place.strip() or len(find.finder) + len(find.place) > 400:
        raise Failure("INVALID_INPUT", "a find needs a finder and a place, of at most 400 characters together")
    if not 0 < find.grams <= 100_000_000:
        raise Failure("INVALID_INPUT", f"{find.grams} g is no weight of a meteorite")
    key = context.external_key
    known = kv.get(key)
    if known is not None:
        log.info("%s is registered, try after %d others", key, context.tries_before)
        return registered(key, json.loads(known))
    entry = {
        "finder": find.finder.strip(),
        "place": find.place.strip(),
        "grams": find.grams,
        "magnetic": find.magnetic,
        "code": secrets.token_hex(4).upper(),
        "at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }
    kv.set(key, json.dumps(entry))
    return registered(key, entry)


@register.verify
def check(change):
    raw = kv.get(change.resource_id)
    if raw is None:
        return "the find is not in the register"
    code = json.loads(raw)["code"]
    return True if code == change.version else f"the find has the code {code}"


@register.compensate
def strike_out(find: Find, result, key):
    raw = kv.get(key)
    if raw is None:
        raise Failure("POLICY_DENIED", "the find is no longer in the register")
    entry = json.loads(raw)
    same = (find.finder.strip(), find.place.strip(), find.grams, find.magnetic, result.code, result.registered_at)
    if tuple(entry.get(field) for field in ("finder", "place", "grams", "magnetic", "code", "at")) != same:
        raise Failure("POLICY_DENIED", f"the find {result.code} was changed since")
    if not kv.delete(key):
        raise Failure("POLICY_DENIED", "the find was removed by someone else")
    return Output(None, changes=[Change("find", key, "delete")])
