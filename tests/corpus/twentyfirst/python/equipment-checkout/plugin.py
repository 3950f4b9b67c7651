import json

from latchwork import Change, Failure, Output, kv, tool

WEEK = 7 * 86_400

CHECKOUT = {
    "type": "object",
    "properties": {
        "item": {"type": "string", "pattern": "^[A-Z]{2,4}[0-9]{1,6}$"},
        "person": {"type": "string", "minLength": 1, "maxLength": 80},
        "days": {"type": "integer", "minimum": 1, "maximum": 90},
        "accessories": {
            "type": "array",
            "items": {"type": "string", "minLength": 1, "maxLength": 60},
            "maxItems": 40,
        },
    },
    "required": ["item", "person", "days"],
    "additionalProperties": False,
}
SLIP = {
    "type": "object",
    "properties": {"slip": {"type": "string"}, "item": {"type": "string"}, "pieces": {"type": "integer"}},
    "required": ["slip", "item", "pieces"],
    "additionalProperties": False,
}
SHOW = {
    "type": "object",
    "properties": {"slip": {"type": "string", "pattern": "^[A-Za-z0-9_~-]{1,128}$"}},
    "required": ["slip"],
    "additionalProperties": False,
}


def slip_of(key):
    """The name of the slip of a call. The scanner at the door reads letters, digits, `-`, `_` and `~` alone."""
    return key.replace(":", "-").replace("/", "-")


def read(slip):
    text = kv.get(f"slip:{slip}")
    return None if text is None else json.loads(text)


def issued(slip, entry):
    return Output(
        {"slip": slip, "item": entry["item"], "pieces": 1 + len(entry["accessories"])},
        receipt={"slip": slip},
        changes=[Change("slip", slip, "create", version=entry["item"])],
    )


@tool("Equipment.Checkout", input=CHECKOUT, output=SLIP, effects=["internal_write"], idempotent_by_key_seconds=WEEK)
def checkout(args, context):
    """Checks out a piece of equipment with its accessories, and issues a slip for the door."""
    slip = slip_of(context.external_key)
    # A repetition returns the slip of the first try.
    entry = read(slip)
    if entry is not None:
        return issued(slip, entry)
    person = args["person"].strip()
    if not person:
        raise Failure("INVALID_INPUT", "the person has no name")
    accessories = args.get("accessories", [])
    if len(set(accessories)) < len(accessories):
        raise Failure("INVALID_INPUT", "an accessory is listed twice")
    entry = {"item": args["item"], "person": person, "days": args["days"], "accessories": accessories}
    kv.set(f"slip:{slip}", json.dumps(entry))
    return issued(slip, entry)


@checkout.verify
def check(change):
    entry = read(change.resource_id)
    if entry is None:
        return "the slip is missing"
    return True if entry["item"] == change.version else f"the slip is for {entry['item']}"


@tool("Equipment.Show", input=SHOW, effects=["read_only"])
def show(args, context):
    """Shows the slip that the scanner has read."""
    entry = read(args["slip"])
    return {"found": False} if entry is None else {"found": True, **entry}
