import json
from datetime import datetime, timedelta, timezone

from latchwork import Change, Failure, Output, kv, tool

INPUT = {
    "type": "object",
    "properties": {
        "visitor": {"type": "string", "minLength": 1, "maxLength": 100},
        "host": {"type": "string", "minLength": 1, "maxLength": 100},
        "gate": {"enum": ["north", "south", "quay"]},
        "from": {"type": "string", "pattern": "^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}Z$"},
        "hours": {"type": "integer", "minimum": 1, "maximum": 72},
    },
    "required": ["visitor", "host", "gate", "from", "hours"],
    "additionalProperties": False,
}
OUTPUT = {
    "type": "object",
    "properties": {"number": {"type": "string"}, "gate": {"type": "string"}, "until": {"type": "string"}},
    "required": ["number", "gate", "until"],
    "additionalProperties": False,
}


def entry_of(key):
    return f"pass:{key}"


def start_of(text):
    """The time at which a visit begins."""
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%MZ").replace(tzinfo=timezone.utc)
    except ValueError:
        raise Failure("INVALID_INPUT", f"there is no time {text}") from None


def issued(key, text):
    """Answer of the call that wrote this pass."""
    saved = json.loads(text)
    return Output(
        {"number": key, "gate": saved["gate"], "until": saved["until"]},
        receipt={"number": key, "issued_at": saved["issued_at"]},
        changes=[Change("gate-pass", entry_of(key), "create", version=text)],
    )


# A pass is written once for a key. A repetition within a day finds it.
@tool("Pass.Issue", input=INPUT, output=OUTPUT, effects=["internal_write"], idempotent_by_key_seconds=24 * 3600)
def issue(visit: dict, context):
    """Issues a gate pass for a visitor of the port."""
    now = datetime.now(timezone.utc)
    start = start_of(visit["from"])
    until = start + timedelta(hours=visit["hours"])
    if until <= now:
        raise Failure("INVALID_INPUT", f"the visit has ended at {until:%Y-%m-%d %H:%M}")

    key = context.external_key
    earlier = kv.get(entry_of(key))
    if earlier is not None:
        return issued(key, earlier.decode())

    saved = {
        "visitor": visit["visitor"],
        "host": visit["host"],
        "gate": visit["gate"],
        "from": f"{start:%Y-%m-%dT%H:%MZ}",
        "until": f"{until:%Y-%m-%dT%H:%MZ}",
        "issued_at": now.isoformat(timespec="seconds"),
    }
    text = json.dumps(saved, ensure_ascii=False)
    kv.set(entry_of(key), text)
    return issued(key, text)


@issue.verify
def check(change):
    text = kv.get(change.resource_id)
    if text is None:
        return "the pass is missing"
    return True if text.decode() == change.version else "the pass has another text"


@tool("Pass.Look", input={"type": "object", "properties": {"number": {"type": "string", "pattern": "^[A-Za-z0-9_:/~-]{1,128}$"}}, "required": ["number"], "additionalProperties": False})
def look(query: dict, context):
    """Looks up a gate pass."""
    text = kv.get(entry_of(query["number"]))
    if text is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"there is no pass {query['number']}")
    return json.loads(text)
