"""Keeps the pianos that a shop sells for their owners."""

import json
from dataclasses import dataclass

from latchwork import Failure, Output, kv, tool

OWNER = {"type": "string", "pattern": "^[a-z0-9-]{1,40}$"}
KEY = {"type": "string", "pattern": "^[A-Za-z0-9_:/~-]{1,128}$"}


@dataclass
class Taken:
    consignment: str
    owner: str


def only(**properties):
    """Returns the schema of an object with these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def sheet(key):
    """Name of the entry with the piano."""
    return f"piano/{key}"


def claim(owner, key):
    """Name of the entry with the share of the owner, which the cashier reads."""
    return f"claim/{owner}/{key}"


@tool(
    "Consignment.Take",
    input=only(
        owner=OWNER,
        maker={"type": "string", "minLength": 1, "maxLength": 60},
        price={"type": "integer", "minimum": 1, "maximum": 500_000},
        percent={"type": "integer", "minimum": 40, "maximum": 95},
    ),
    output=Taken,
    effects=["internal_write"],
)
def take(piano, context):
    """Takes a piano for sale, and notes the share of its owner."""
    if not piano["maker"].strip():
        raise Failure("INVALID_INPUT", f"the piano of {piano['owner']} has no maker")
    key, owner = context.external_key, piano["owner"]
    share = piano["price"] * piano["percent"] // 100
    kv.set(sheet(key), json.dumps({"maker": piano["maker"], "price": piano["price"]}))
    kv.set(claim(owner, key), json.dumps({"share": share}))
    return Taken(key, owner)


@take.compensate
def give_back(piano, result, key):
    """Takes the piano out of the shop again."""
    if not kv.delete(sheet(key)):
        raise Failure("POLICY_DENIED", f"the piano {key} is no longer in the shop")
    if not kv.delete(claim(piano["owner"], key)):
        raise Failure("POLICY_DENIED", f"the share of {piano['owner']} was paid already")
    return Output(None)


@tool(
    "Consignment.Pay",
    input=only(owner=OWNER, consignment=KEY),
    output=only(owner=OWNER, paid={"type": "integer"}),
    effects=["internal_write"],
)
def pay(given, context):
    """Pays the share of an owner, which ends the claim."""
    name = claim(given["owner"], given["consignment"])
    kept = kv.get(name)
    if kept is None or not kv.delete(name):
        raise Failure("MISSING_REQUIRED_CONTEXT", f"{given['owner']} has no claim {given['consignment']}")
    return {"owner": given["owner"], "paid": json.loads(kept)["share"]}
