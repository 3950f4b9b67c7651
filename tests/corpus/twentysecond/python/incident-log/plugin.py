import json
from datetime import datetime, timezone

from latchwork import Change, Failure, Output, happened, kv, tool

REF = {"type": "string", "pattern": "^[A-Za-z0-9_:/~-]{1,128}$"}

REPORT = {
    "type": "object",
    "properties": {
        "plant": {"type": "string", "minLength": 1, "maxLength": 60},
        "severity": {"enum": ["near-miss", "minor", "major"]},
        "text": {"type": "string", "minLength": 1, "maxLength": 4000},
        "seen_at": {"type": "string", "pattern": "^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}Z$"},
    },
    "required": ["plant", "severity", "text", "seen_at"],
    "additionalProperties": False,
}

ENTERED = {
    "type": "object",
    "properties": {"incident": {"type": "string"}, "entered_at": {"type": "string"}},
    "required": ["incident", "entered_at"],
    "additionalProperties": False,
}

CLOSE = {
    "type": "object",
    "properties": {"incident": REF},
    "required": ["incident"],
    "additionalProperties": False,
}


def read(incident):
    raw = kv.get(f"incident/{incident}")
    return None if raw is None else json.loads(raw)


def entered(incident, entry):
    """The answer of a report. Everything in it comes from the entry, so each try returns the same."""
    result = {"incident": incident, "entered_at": entry["entered_at"]}
    return Output(result, receipt=result, changes=[Change("incident", incident, "create", version="open")])


def check(change):
    """Compares the state of an incident with the recorded one. Both operators change one entry."""
    entry = read(change.resource_id)
    if entry is None:
        return "the incident is missing"
    return True if entry["state"] == change.version else f"the incident is {entry['state']}"


# An entry has the external key of its call as name, and stays when the incident is closed.
@tool("Incident.Report", input=REPORT, output=ENTERED, effects=["internal_write"], idempotent_by_key_seconds=604_800)
def report(args, context):
    """Enters an incident in the safety log of a plant."""
    try:
        seen = datetime.strptime(args["seen_at"], "%Y-%m-%dT%H:%MZ").replace(tzinfo=timezone.utc)
    except ValueError:
        raise Failure("INVALID_INPUT", f"{args['seen_at']} is no time") from None
    incident = context.external_key
    entry = read(incident)
    # A repetition finds the entry of the first try. The clock decides only about a new entry.
    if entry is None:
        now = datetime.now(timezone.utc)
        if seen > now:
            raise Failure("INVALID_INPUT", f"{args['seen_at']} is in the future")
        entry = {**args, "entered_at": now.isoformat(timespec="seconds"), "state": "open"}
        kv.set(f"incident/{incident}", json.dumps(entry))
    return entered(incident, entry)


@report.reconcile
def find(args, key):
    entry = read(key)
    return "did_not_happen" if entry is None else happened(entered(key, entry))


report.verify(check)


@report.compensate
def withdraw(args, result, key):
    entry = read(key)
    if entry is None:
        raise Failure("POLICY_DENIED", "the incident is no longer in the log")
    if entry["state"] != "open":
        raise Failure("POLICY_DENIED", "the incident was closed since")
    if not kv.delete(f"incident/{key}"):
        raise Failure("POLICY_DENIED", "the incident is no longer in the log")
    return Output(None, changes=[Change("incident", key, "delete")])


@tool("Incident.Close", input=CLOSE, output=CLOSE, effects=["internal_write"])
def close(args, context):
    """Marks an incident as closed."""
    entry = read(args["incident"])
    if entry is None:
        raise Failure("INVALID_INPUT", f"there is no incident {args['incident']}")
    kv.set(f"incident/{args['incident']}", json.dumps({**entry, "state": "closed"}))
    change = Change("incident", args["incident"], "update", version="closed")
    return Output({"incident": args["incident"]}, receipt={"incident": args["incident"]}, changes=[change])


close.verify(check)
