"""Arrivals of parties at a mountain hut. The warden reads them by the hour."""

import json
from datetime import datetime, timezone

from latchwork import Change, Failure, Output, kv, tool

PARTY = {
    "type": "object",
    "properties": {
        "leader": {"type": "string", "minLength": 1, "maxLength": 80},
        "guests": {"type": "integer", "minimum": 1, "maximum": 60},
        "route": {"enum": ["ridge", "valley", "glacier"]},
    },
    "required": ["leader", "guests", "route"],
    "additionalProperties": False,
}


@tool("Arrival.Record", input=PARTY, effects=["internal_write"], idempotent_by_key_seconds=24 * 60 * 60)
def record(party, context):
    """Records the arrival of a party, once for each call."""
    if not party["leader"].strip():
        raise Failure("INVALID_INPUT", "the party names no leader")
    hour = datetime.now(timezone.utc).strftime("%Y-%m-%d/%H")
    name = f"arrival/{hour}/{context.external_key}"
    kv.set(name, json.dumps({"leader": party["leader"], "guests": int(party["guests"]), "route": party["route"]}))
    return Output({"arrival": name}, changes=[Change("arrival", name, "create")])


@tool("Arrival.Read", input={
    "type": "object",
    "properties": {"arrival": {"type": "string", "pattern": "^[A-Za-z0-9_:/~-]{1,200}$"}},
    "required": ["arrival"],
    "additionalProperties": False,
})
def read(wish, context):
    """Reads an arrival."""
    found = kv.get(wish["arrival"]) if wish["arrival"].startswith("arrival/") else None
    if found is None:
        raise Failure("INVALID_INPUT", f"there is no arrival {wish['arrival']}")
    return json.loads(found)
