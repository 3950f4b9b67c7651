import hashlib
import json
from datetime import datetime, timezone

from latchwork import Change, Failure, Output, happened, kv, tool

ENTRY_BYTES = 65536
ADD = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "minLength": 1, "maxLength": 200},
        "description": {"type": "string", "minLength": 1, "maxLength": 30000},
    },
    "required": ["title", "description"],
    "additionalProperties": False,
}
FIND = {
    "type": "object",
    "properties": {"item": {"type": "string", "minLength": 1, "maxLength": 160}},
    "required": ["item"],
    "additionalProperties": False,
}


def body_of(key):
    return f"body/{key}"


def card_of(key):
    return f"card/{key}"


def added(key, card):
    """Returns the output of a call from the text of its card."""
    return Output(
        {"item": key, "added_at": json.loads(card)["added_at"]},
        receipt={"item": key},
        changes=[Change("item", key, "create", version=hashlib.sha256(card).hexdigest())],
    )


@tool("Inventory.Add", effects=["internal_write"], input=ADD)
def add(args, context):
    """Adds a thing to the inventory of a vestry. The card is written last and makes the entry visible."""
    body = args["description"].encode()
    if len(body) > ENTRY_BYTES:
        raise Failure("INVALID_INPUT", f"the description has {len(body)} bytes, and an entry {ENTRY_BYTES}")
    key = context.external_key
    card = json.dumps({
        "title": args["title"],
        "body": hashlib.sha256(body).hexdigest(),
        "added_at": datetime.now(timezone.utc).isoformat(),
    }).encode()
    kv.set(body_of(key), body)
    kv.set(card_of(key), card)
    return added(key, card)


@add.reconcile
def find(args, key):
    card = kv.get(card_of(key))
    return "did_not_happen" if card is None else happened(added(key, card))


@add.verify
def check(change):
    card = kv.get(card_of(change.resource_id))
    if card is None:
        return "the card is missing"
    if hashlib.sha256(card).hexdigest() != change.version:
        return "the card was changed"
    body = kv.get(body_of(change.resource_id))
    if body is None:
        return "the description is missing"
    return True if hashlib.sha256(body).hexdigest() == json.loads(card)["body"] else "the description was changed"


@add.compensate
def take_back(args, result, key):
    card, body = kv.get(card_of(key)), kv.get(body_of(key))
    if card is None or body is None:
        raise Failure("POLICY_DENIED", "the entry was removed")
    noted = json.loads(card)
    if noted["added_at"] != result["added_at"] or noted["title"] != args["title"] or body != args["description"].encode():
        raise Failure("POLICY_DENIED", "the entry was changed")
    if not kv.delete(card_of(key)):
        raise Failure("POLICY_DENIED", "the card was removed")
    if not kv.delete(body_of(key)):
        raise Failure("POLICY_DENIED", "the description was removed", applied="unknown")
    return Output(None, changes=[Change("item", key, "delete")])


@tool("Inventory.Find", input=FIND)
def look(args, context):
    """Returns a thing of the inventory."""
    card = kv.get(card_of(args["item"]))
    if card is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"there is no item {args['item']}")
    body = kv.get(body_of(args["item"]))
    if body is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"the description of {args['item']} is missing")
    noted = json.loads(card)
    return {"title": noted["title"], "description": body.decode(), "added_at": noted["added_at"]}
