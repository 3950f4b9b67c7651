import json

from latchwork import Failure, Output, kv, tool

ROOM = {"type": "string", "pattern": "^[a-z0-9-]{1,40}$"}
INPUT = {
    "type": "object",
    "properties": {
        "room": ROOM,
        "tenths": {"type": "integer", "minimum": 50, "maximum": 300},
        "because": {"type": "string", "maxLength": 200},
    },
    "required": ["room", "tenths"],
    "additionalProperties": False,
}
OUTPUT = {
    "type": "object",
    "properties": {"room": {"type": "string"}, "tenths": {"type": "integer"}, "eco": {"type": "boolean"}},
    "required": ["room", "tenths", "eco"],
}


# A target holds until the room gets another one.
@tool("Room.Target", input=INPUT, output=OUTPUT, effects=["internal_write"], idempotent_by_key_seconds=86400)
def target(args: dict, context):
    """Sets the temperature that a room is heated to."""
    if args["tenths"] > 240 and not args.get("because", "").strip():
        raise Failure("POLICY_DENIED", "more than 24 degrees need a reason")
    kept = {"tenths": args["tenths"], "because": args.get("because", "")}
    kv.set(f"room/{args['room']}", json.dumps(kept, ensure_ascii=False))
    result = {"room": args["room"], "tenths": args["tenths"], "eco": args["tenths"] <= 180}
    return Output(result, receipt={"room": args["room"], "call": context.external_key})


@tool(
    "Room.Show",
    input={"type": "object", "properties": {"room": ROOM}, "required": ["room"], "additionalProperties": False},
    output=OUTPUT,
)
def show(args: dict, context):
    """Shows the target of a room. A room without a target is kept free of frost."""
    stored = kv.get(f"room/{args['room']}")
    tenths = 50 if stored is None else json.loads(stored)["tenths"]
    return {"room": args["room"], "tenths": tenths, "eco": tenths <= 180}
