"""Upgrades of theatre seats. An upgrade is one entry of the map, under the key of its call."""

import json

from latchwork import Change, Failure, Output, kv, tool

UPGRADE = {
    "type": "object",
    "properties": {
        "booking": {"type": "string", "pattern": "^[A-Z0-9]{4,12}$"},
        "seat": {"type": "string", "pattern": "^[A-Z]{1,2}[0-9]{1,3}$"},
        "tier": {"enum": ["balcony", "stalls", "box"]},
    },
    "required": ["booking", "seat", "tier"],
    "additionalProperties": False,
}
CENTS = {"balcony": 800, "stalls": 1500, "box": 4200}


def name_of(upgrade):
    return f"upgrade/{upgrade}"


@tool("Upgrade.Grant", input=UPGRADE, effects=["internal_write"], idempotent_by_key_seconds=3 * 24 * 60 * 60)
def grant(wish, context):
    """Moves a booking to a better seat."""
    # The house has no row I: guests took it for row 1.
    if wish["seat"].rstrip("0123456789") == "I":
        raise Failure("INVALID_INPUT", f"there is no seat {wish['seat']}")
    key = context.external_key
    granted = kv.get(name_of(key))
    if granted is not None:
        entry = json.loads(granted)
        return {"upgrade": key, "seat": entry["seat"], "cents": entry["cents"]}
    entry = {"booking": wish["booking"], "seat": wish["seat"], "tier": wish["tier"], "cents": CENTS[wish["tier"]]}
    kv.set(name_of(key), json.dumps(entry))
    return Output(
        {"upgrade": key, "seat": entry["seat"], "cents": entry["cents"]},
        changes=[Change("upgrade", key, "create", version=f"{entry['booking']} {entry['seat']}")],
    )


@grant.verify
def check(change):
    found = kv.get(name_of(change.resource_id))
    if found is None:
        return "the upgrade is missing"
    entry = json.loads(found)
    state = f"{entry['booking']} {entry['seat']}"
    return True if state == change.version else f"the upgrade is for {state}"


@tool("Upgrade.Read", input={
    "type": "object",
    "properties": {"upgrade": {"type": "string", "pattern": "^[A-Za-z0-9_:/~-]{1,128}$"}},
    "required": ["upgrade"],
    "additionalProperties": False,
})
def read(wish, context):
    """Reads an upgrade."""
    found = kv.get(name_of(wish["upgrade"]))
    if found is None:
        raise Failure("INVALID_INPUT", f"there is no upgrade {wish['upgrade']}")
    return json.loads(found)
